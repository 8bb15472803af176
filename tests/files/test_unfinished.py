"""What a killed writer leaves beside a folder is gone when the next one writes there, and nothing else is."""

from __future__ import annotations

import subprocess
import sys

import pytest

from plugsamp.files import unfinished
from plugsamp.files.storage import StorageError, read_folder, write_folder

KILLED = """
import os, signal, sys
import numpy as np
from plugsamp.files.storage import write_folder

def arrays():
    yield "first", np.arange(5)
    os.kill(os.getpid(), signal.SIGKILL)

write_folder(sys.argv[1], "store", arrays(), {})
"""


def test_what_a_killed_writer_left_is_taken_away(tmp_path):
    place = tmp_path / "news [1]"
    assert subprocess.run([sys.executable, "-c", KILLED, str(place)]).returncode < 0
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".news [1]-") and (left / "first.npy").exists()
    write_folder(place, "store", {}, {"is": "whole"})
    assert list(tmp_path.iterdir()) == [place]
    assert {p.name for p in place.iterdir()} == {"manifest.json"}


def test_what_is_somebody_elses_stays(tmp_path):
    for name in (".m-20240101", ".mm-abcdefgh", ".m-notes"):  # without a mark; beside another; too short
        (tmp_path / name).mkdir()
        (tmp_path / name / ("kept" if name == ".m-20240101" else unfinished.MARK)).write_text("")
    with unfinished.beside(tmp_path / "m") as written:
        write_folder(tmp_path / "m", "model", {}, {})
        assert written.exists()
        assert len(list(tmp_path.iterdir())) == 5
    write_folder(tmp_path / "m", "model", {}, {}, overwrite=True)  # nobody is at work on it any more
    assert not written.exists()
    assert len(list(tmp_path.iterdir())) == 4


def test_what_was_to_be_replaced_is_back(tmp_path):
    put_aside = tmp_path / ".m-old-abcdefgh"
    put_aside.mkdir()
    (put_aside / unfinished.MARK).write_text("")
    write_folder(put_aside / "m", "model", {}, {"was": "there"})
    with pytest.raises(StorageError, match="exists"):
        write_folder(tmp_path / "m", "model", {}, {})
    assert read_folder(tmp_path / "m", "model") == ({}, {"was": "there"})
    assert [p.name for p in tmp_path.iterdir()] == ["m"]
