"""`plugsamp fit --help` and the configuration shown."""

from __future__ import annotations

import pytest

from plugsamp import options, registry
from plugsamp.cli import main


def test_help_is_a_manual_page(at, capsys):
    assert main(["fit", "--help"]) == 0
    page = capsys.readouterr().out
    for part in ("loss=hinge", "loss.cost=10", "n_topics=50", "burn_in=null", "experiment", "--multirun"):
        assert part in page
    assert "${" not in page and "_target_" not in page and "`" not in page
    assert "hydra.run.dir=FOLDER" in page and max(map(len, page.splitlines())) <= 110
    corpora = page.partition("loss=hinge")[0].split()
    assert corpora.index("csv,") < corpora.index("data_dir:") < corpora.index("bbc,")
    assert "Word and word" in page  # corpus.lowercase
    assert main(["fit", "--help", "kernel=composed"]) == 0
    assert "kernel.steps=6" in capsys.readouterr().out
    assert not list(at.iterdir())


@pytest.mark.parametrize("command", ["predict", "evaluate", "report", "convert"])
def test_help_of_the_other_commands(at, capsys, command):
    assert main([command, "--help"]) == 0
    page = capsys.readouterr().out
    assert ("corpus=(needed)" in page) == (command != "report") and "hydra.run.dir" not in page
    passes = page.partition("Passes over each document")[2]
    assert "data_dir=" in page and "data_dir=data" not in passes


def test_what_is_registered_is_documented():
    for group in registry.GROUPS:
        for name in registry.names(group):
            texts = options.texts(registry.load(group, name))
            if group != "proposals":  # of the composed kernel, whose options they are not
                assert all(texts.get(option) for option in registry.options(group, name)), (group, name)


def test_every_option_isdocumented(at):
    from dataclasses import fields

    from plugsamp.commands.fit import Checkpointing, Predict, Settings
    from plugsamp.commands.manual import documented
    from plugsamp.covariates import Covariates
    from plugsamp.fitting.second_step import SecondStep
    from plugsamp.fitting.starts import Start
    from plugsamp.topics.concentration import Concentration

    documented = {key: text for _, entries in documented() for key, text in entries}
    nested = ("predict", "covariates", "second_step", "learn_alpha", "learn_beta", "start", "checkpoint")
    wanted = {f.name for f in fields(Settings) if f.name not in nested}
    wanted |= {f"learn_alpha.{f.name}" for f in fields(Concentration)}
    wanted |= {f"start.{f.name}" for f in fields(Start)}
    wanted |= {f"learn_beta.{f.name}" for f in fields(Concentration) if f.name != "symmetric"}
    wanted |= {f"predict.{f.name}" for f in fields(Predict)}
    wanted |= {f"covariates.{f.name}" for f in fields(Covariates)}
    wanted |= {f"checkpoint.{f.name}" for f in fields(Checkpointing)}
    wanted |= {f"second_step.{f.name}" for f in fields(SecondStep)}
    assert set(documented) == wanted
    assert all(documented.values())


def test_the_configuration_can_be_shown(at, capsys):
    assert main(["fit", "--cfg", "job", "loss.cost=3"]) == 0
    out = capsys.readouterr().out
    assert "cost: 3" in out and "n_topics: 50" in out
    assert not list(at.iterdir())
