"""What the tests of commands share: documents, a folder of their own, a quick fit."""

from __future__ import annotations

import csv
import json
import os
import shutil

import numpy as np
import pytest

from plugsamp.cli import main

WORDS = {
    "space": ["orbit", "rocket", "launch", "moon", "shuttle", "planet"],
    "food": ["bread", "butter", "cheese", "soup", "pepper", "salt"],
    "music": ["guitar", "drum", "song", "chorus", "violin", "opera"],
}

FAST = ["n_topics=3", "sweeps=8", "corpus=jsonl", "corpus.min_df=1", "corpus.stop_words=none"]


@pytest.fixture
def at(tmp_path, monkeypatch):
    """A working folder of its own, and no settings from outside."""
    monkeypatch.chdir(tmp_path)
    for name in ("PLUGSAMP_TRACEBACK", "HYDRA_FULL_ERROR", "PLUGSAMP_DATA"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def words() -> dict[str, list[str]]:
    """The words of each label."""
    return WORDS


@pytest.fixture
def fast() -> list[str]:
    """Options of a quick fit."""
    return list(FAST)


def _write_documents(path, labels=tuple(WORDS), n=8, label=lambda name: name, more=lambda i, name: {}):
    rng = np.random.default_rng(3)
    with open(path, "w") as out:
        for i in range(n):
            for name in labels:
                text = " ".join(rng.choice(WORDS[name], 12))
                split = "test" if i % 4 == 3 else "train"
                document = {"id": f"{name}-{i}", "label": label(name), "text": text, "split": split}
                out.write(json.dumps(document | more(i, name)) + "\n")
    return path


@pytest.fixture
def write_documents():
    """Write JSON lines: n documents a class, some with a split."""
    return _write_documents


@pytest.fixture
def run():
    """`plugsamp fit`, quickly, into the folder ``run``."""

    def fit(*arguments):
        return main(["fit", *FAST, *arguments, "hydra.run.dir=run"])

    return fit


@pytest.fixture(scope="session")
def once_fitted(tmp_path_factory):
    """A folder with documents and the run of a quick fit, which `fitted` copies."""
    folder = tmp_path_factory.mktemp("fitted")
    _write_documents(folder / "docs.jsonl")
    before = os.getcwd()
    os.chdir(folder)
    try:
        assert main(["fit", *FAST, "corpus.path=docs.jsonl", "hydra.run.dir=run"]) == 0
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def fitted(at, once_fitted):
    """The working folder with docs.jsonl and a run of it."""
    shutil.copytree(once_fitted, at, dirs_exist_ok=True)
    return at


@pytest.fixture
def said(capsys):
    """Standard error without progress: what a user reads of a mistake."""
    return lambda: capsys.readouterr().err


@pytest.fixture
def read_csv():
    def read(path):
        with open(path, newline="") as file:
            return list(csv.DictReader(file))

    return read


@pytest.fixture
def sweep(at, write_documents, fast):
    """`plugsamp fit -m` into the folder ``sweep``."""
    write_documents(at / "d.jsonl")

    def fit(*arguments):
        return main(["fit", "-m", *fast, "corpus.path=d.jsonl", "hydra.sweep.dir=sweep", *arguments])

    return fit
