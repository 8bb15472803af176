"""Files that commands are to write: what is wrong with them is said before the work."""

from __future__ import annotations

import os

import pytest

from plugsamp.cli import main
from plugsamp.commands.targets import target
from plugsamp.files.whole import complete


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("", "out is empty"),
        ("  ", "out is empty"),
        ("-", "out=- stands for standard output"),
        ("folder", "folder: this is a folder"),
        ("new/", "new/: this is a folder"),
        ("none/file", r"none: there is no such folder \(out=none/file\)"),
        ("taken/file", "taken: there is no such folder"),
        ("taken", "taken: the file is there already; overwrite=true replaces it"),
        (os.devnull, "this is no plain file"),
    ],
)
def test_what_is_refused(at, given, says):
    (at / "folder").mkdir()
    (at / "taken").touch()
    with pytest.raises(ValueError, match=says):
        target("out", given)


def test_what_is_taken(at):
    (at / "taken").touch()
    assert str(target("out", "new")) == "new"
    assert str(target("out", "taken", overwrite=True)) == "taken"
    assert str(target("out", "taken", own=at / "taken")) == "taken"
    with pytest.raises(ValueError, match="no plain file"):
        target("out", os.devnull, overwrite=True)


def test_a_file_that_cannot_be_written_is_named_as_the_user_did(at):
    with pytest.raises(FileNotFoundError) as error, complete("none/file"):
        pass
    assert error.value.filename == "none/file"


@pytest.mark.parametrize(
    "command", ["evaluate model=none corpus=lines corpus.path=x", "export run=none to=model"]
)
@pytest.mark.parametrize(
    ("out", "says"), [("none/x", "none: there is no such folder (out=none/x)"), ("-", "out=-")]
)
def test_said_before_anything_is_read(at, said, command, out, says):
    assert main([*command.split(), f"out={out}"]) == 2
    assert says in said()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("to=model aligned=true", "aligned=true is an option of to=netcdf; to=model has no use for it"),
        ("to=model draws=kept", "draws=kept is an option of to=netcdf"),
        ("to=netcdf eta=mean", "eta=mean is an option of to=model"),
    ],
)
def test_options_of_the_other_export_are_refused(at, said, arguments, says):
    assert main(["export", "run=none", "out=x", *arguments.split()]) == 2
    assert says in said()


def test_a_model_in_one_file_has_no_chains(at, said):
    from zipfile import ZipFile

    with ZipFile(at / "x.zip", "w") as archive:
        archive.writestr("a", "b")
    assert main(["export", "run=x.zip", "to=netcdf", "out=x.nc"]) == 2
    assert "x.zip: this is a model in one file, and no run" in said()
