"""`plugsamp plugins`."""

from __future__ import annotations

import re

from plugsamp.cli import main


def test_plugins_lists_origin_and_options(capsys):
    assert main(["plugins", "losses", "priors"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"hinge +plugsamp \S+, plugsamp\.losses\.hinge:Hinge", out)
    assert "cost=102.4, margin=1.0" in out and "variance=null" in out
    assert main(["plugins", "loss"]) == 2
    assert "did you mean 'losses'?" in capsys.readouterr().err


def test_the_page_of_one_plugin(capsys):
    assert main(["plugins", "loss=hinge", "readers=plugsamp:csv"]) == 0
    out = capsys.readouterr().out
    loss, reader = out.split("\ncorpus reader csv\n")
    assert re.search(r"package +plugsamp \S+\n", loss)
    assert "entry point  hinge = plugsamp.losses.hinge:Hinge (plugsamp.losses)" in loss
    assert re.search(r"cost +a number, default 102\.4\n +lambda, the regularisation", loss)
    assert "psi(y|f) =" in loss and "pseudo-posterior" in loss and "Parameters" not in loss
    assert re.search(r"Options\n +path +a string, needed\n", reader)
    assert re.search(r"only +a list \(a string each\) or null, default null", reader)
    assert "priors:" not in out


def test_a_page_that_there_is_not(capsys):
    assert main(["plugins", "loss=hing"]) == 2
    err = capsys.readouterr().err
    assert "no loss named 'hing'; did you mean 'hinge'?" in err and "must be installed again" in err
    assert main(["plugins", "lsos=hinge"]) == 2
    assert "no group 'lsos'; did you mean 'losses'?" in capsys.readouterr().err


def test_a_broken_plugin_is_marked(site, install, capsys):
    install(site, "plugsamp-broken", "broken_plugin", "1/0", {"losses": {"broken": "Broken"}})
    assert main(["plugins", "losses"]) == 1
    out, err = capsys.readouterr()
    assert re.search(r"BROKEN: .*plugsamp-broken 1\.0 .*ZeroDivisionError: division by zero", out)
    assert "hinge" in out and err == "1 broken\n"
    assert main(["plugins", "loss=broken"]) == 1
    out, err = capsys.readouterr()
    assert "plugsamp-broken 1.0" in out and "broken = broken_plugin:Broken" in out
    assert "BROKEN" in out and "ZeroDivisionError" in out and err == "1 broken\n"


def test_entry_points_in_a_wrong_group_are_noted(site, install, capsys):
    install(site, "plugsamp-astray", "astray_plugin", "", {"loss": {"astray": "Astray"}})
    assert main(["plugins", "priors"]) == 0
    assert "note: package plugsamp-astray registers 'astray' in 'plugsamp.loss'" in capsys.readouterr().out


def test_a_plugin_without_documentation_shows_none(site, install, capsys):
    source = "from plugsamp.losses.hinge import Hinge\nclass Mute(Hinge):\n    def __init__(self, a=1): ..."
    install(site, "plugsamp-mute", "mute_plugin", source, {"losses": {"mute": "Mute"}})
    assert main(["plugins", "loss=mute"]) == 0
    out = capsys.readouterr().out
    assert "pseudo-posterior" not in out and "a              anything, default 1" in out
