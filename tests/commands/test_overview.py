"""`plugsamp` alone, and what is no command."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from plugsamp.cli import COMMANDS, main

from ..crossed import crossed


def test_alone_it_prints_what_there_is(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    for name, (_, line) in COMMANDS.items():
        assert f"plugsamp {name}" in out and line in out
    assert "Examples" in out


def test_alone_and_import_are_quick_because_they_import_little():
    code = (
        "import sys, plugsamp, plugsamp.cli; plugsamp.cli.main([]);"
        "heavy = {'numpy', 'scipy', 'hydra', 'sklearn', 'rich'} & set(sys.modules); sys.exit(len(heavy))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60).returncode == 0


@pytest.mark.parametrize(
    "arguments, buffered", crossed([[], ["--version"], ["plugins"], ["fit", "--help"]], ["", "1"])
)
def test_a_reader_that_has_had_enough_is_no_error(arguments, buffered):
    process = subprocess.Popen(
        [sys.executable, "-m", "plugsamp.cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": buffered},
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 0


def test_an_unknown_command(capsys):
    assert main(["fti"]) == 2
    assert "no command 'fti'; did you mean 'fit'?" in capsys.readouterr().err
    assert main(["effects", "run=RUN"]) == 2
    assert "ps.load(FOLDER, corpus=True).effects() has it" in capsys.readouterr().err


def test_an_interrupt_before_anything_is_imported(at, monkeypatch, said):
    def interrupted(name):
        raise KeyboardInterrupt

    monkeypatch.setattr("plugsamp.cli.import_module", interrupted)
    assert main(["fit"]) == 130
    assert said() == "plugsamp: interrupted\n"


def test_an_error_that_an_interrupt_has_caused(monkeypatch, said):
    def interrupted(name):
        try:
            raise KeyboardInterrupt
        finally:
            file.close()  # noqa: F821

    monkeypatch.setattr("plugsamp.cli.import_module", interrupted)
    assert main(["fit"]) == 130
    assert said() == "plugsamp: interrupted\n"


def test_an_error_of_its_own_is_not_an_interrupt(monkeypatch):
    def failing(name):
        raise RuntimeError("mine")

    monkeypatch.setattr("plugsamp.cli.import_module", failing)
    with pytest.raises(RuntimeError, match="mine"):
        main(["fit"])
