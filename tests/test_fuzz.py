"""Damaged files are read or refused, by every reader and the model loader; more of it with `-m slow`.

`tools/fuzz_readers.py` does the same for as long as one likes.
"""

import gzip
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from plugsamp.errors import InputError
from plugsamp.files.storage import StorageError
from plugsamp.registry import names
from plugsamp.testing import fuzz
from plugsamp.testing.fuzz_targets import targets

TARGETS = {target.name: target for target in targets()}


@pytest.mark.parametrize("name", TARGETS)
def test_files_that_are_whole_are_read(name, tmp_path):
    fuzz.write(TARGETS[name].files, tmp_path)
    TARGETS[name].read(tmp_path)


def test_every_reader_is_there():
    covered = {name.partition(",")[0].removesuffix(".gz") for name in TARGETS}
    # docstrings reads what is installed; a .npy is read by npz
    assert set(names("readers")) - {"docstrings"} <= covered | {"csv"}
    assert {
        f"{name}.gz" for name in ("csv", "jsonl", "svmlight", "uci", "mm", "ldac", "mallet", "lines")
    } <= set(TARGETS)


@pytest.mark.parametrize("name", TARGETS)
def test_damage_is_refused(name, tmp_path):
    _, found = fuzz.faults(TARGETS[name], tmp_path, range(15), seed=1)
    assert not found, "\n".join(map(str, found))


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_much_damage_is_refused(name, tmp_path):
    """Two thousand cases, of a quarter of which memory is watched: that takes as long as reading."""
    tracemalloc.start()
    try:
        done, found = fuzz.faults(TARGETS[name], tmp_path, range(500), seed=2)
    finally:
        tracemalloc.stop()
    more, others = fuzz.faults(TARGETS[name], tmp_path, range(500, 2000), seed=2)
    assert not found + others, "\n".join(map(str, found + others))
    assert done + more == 2000


def test_the_damage_of_a_case_is_always_the_same_and_is_some(tmp_path):
    for target in (TARGETS["csv"], TARGETS["npz"], TARGETS["model file, hinge"], TARGETS["jsonl.gz"]):
        made = [fuzz.damaged(target, 3, case) for case in range(40)]
        assert made == [fuzz.damaged(target, 3, case) for case in range(40)]
        assert sum(files != target.files for files in made) > 30
        assert len({tuple(sorted(files.items())) for files in made}) > 30


def _never_ends(folder):
    while True:
        pass


def _takes_much(folder):
    return np.zeros(400 << 20, np.int8)


def _says_nothing(folder):
    raise InputError("wrong somewhere")


def _says_no_line(folder):
    raise InputError("a cell is wrong", file=folder / "a")


@pytest.mark.parametrize(
    ("read", "says"),
    [
        (_says_no_line, "no line is named"),
        (lambda folder: 1 / 0, "ZeroDivisionError: division by zero"),
        (_says_nothing, "no file is named: wrong somewhere"),
        (_never_ends, "more than 1 s"),
        (_takes_much, "bytes for files of"),
    ],
    ids=["no line", "error", "no file", "wait", "memory"],
)
def test_faults_are_seen(read, says, tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz, "SECONDS", 1)
    mine = fuzz.Target("mine", {"a": b"abc"}, read, textual=True)
    tracemalloc.start()
    try:
        done, found = fuzz.faults(mine, tmp_path, range(9), most=1)
    finally:
        tracemalloc.stop()
    assert done == 1 and says in str(found[0])


def test_what_is_right_is_none(tmp_path):
    def refuse(folder: Path):
        raise InputError("wrong", file=folder / "a")

    done, found = fuzz.faults(fuzz.Target("mine", {"a": b"abc"}, refuse), tmp_path, range(9))
    assert (done, found) == (9, [])


def test_tables_without_tokens_name_their_file(tmp_path):
    """Found by fuzzing: an svmlight file of empty documents."""
    from plugsamp.readers import SvmLight

    (tmp_path / "a.svm").write_text("1\n0\n")
    reader = SvmLight(path=str(tmp_path / "a.svm"))
    with pytest.raises(InputError, match=r"a\.svm: the corpus has no tokens.*read\(vocabulary=model"):
        reader.read()
    assert reader.read(vocabulary=("w1",)).train.n_documents == 2


def test_little_that_unpacks_to_very_much_is_refused_before_memory_ends(tmp_path, monkeypatch):
    from plugsamp.readers import Lines, MalletText, files
    from plugsamp.system import memory

    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"moon orbit\n" * 10**6))
    for module in (files, memory):
        monkeypatch.setattr(module, "available_bytes", lambda: 10**7)
    monkeypatch.setattr(files, "PIECE", 1 << 20)
    with pytest.raises(
        InputError, match=r"a\.txt\.gz: unpacked it is more than \d+ bytes, and 10000000 bytes"
    ):
        MalletText(path=str(path)).read()
    with pytest.raises(InputError, match=r"a\.txt\.gz: the counts of the first \d+ documents need \d+ bytes"):
        Lines(path=str(path)).read()
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"moon orbit " * 10**6))
    with pytest.raises(InputError, match=r"b\.txt\.gz: a line has more than \d+ bytes, and 10000000 bytes"):
        Lines(path=str(tmp_path / "b.txt.gz")).read()
    for module in (files, memory):
        monkeypatch.setattr(module, "available_bytes", lambda: None)
    assert Lines(path=str(path)).read().train.n_tokens == 2 * 10**6


@pytest.mark.parametrize("name", [name for name in TARGETS if name.startswith("model")])
def test_every_part_of_a_model_is_watched(name, tmp_path):
    """A bit changed or a byte less in any file, and its own name is said."""
    target = TARGETS[name]
    for file, data in target.files.items():
        for damaged in (data[: len(data) // 2], data[:-1], data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]):
            fuzz.write(target.files | {file: damaged}, tmp_path)
            with pytest.raises(StorageError, match=re.escape(Path(file).name)):
                target.read(tmp_path)
