"""`plugsamp plugins`."""

from __future__ import annotations

import re

from plugsamp.cli import main


def test_plugins_lists_origin_and_options(capsys):
    assert main(["plugins", "losses", "priors"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"hinge +plugsamp \S+, plugsamp\.losses\.hinge:Hinge", out)
    assert "cost=102.4, margin=1.0" in out and "variance=1.0" in out
    assert main(["plugins", "loss"]) == 2
    assert "did you mean 'losses'?" in capsys.readouterr().err
