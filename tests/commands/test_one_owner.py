"""Whoever holds the lock of a folder owns it: all others change nothing there and say so in one line."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from plugsamp.cli import main
from plugsamp.commands.failures import RunFolder
from plugsamp.commands.sweeping import LOCK
from plugsamp.corpus import Corpus
from plugsamp.files.lock import Lock, Locked, held
from plugsamp.writers import write

from .swept import status

ONE_LINE = "is being written by another fit of this process\n"


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder with its bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


def test_two_runs_started_at_once(at, write_documents, fast):
    write_documents(at / "d.jsonl")
    options = [*fast, "corpus.path=d.jsonl", "report=false", "sweeps=300", "hydra.run.dir=two"]
    command = [sys.executable, "-m", "plugsamp.cli", "fit", *options]
    both = [
        subprocess.Popen(command, cwd=at, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    errors = [process.communicate(timeout=120)[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 2]
    loser = errors[0] if both[0].returncode else errors[1]
    assert loser.count("\n") == 1 and "two " in loser, loser  # written by the other, or written already
    assert status(at / "two")["status"] == "done"
    assert {"metrics.json", "config.yaml", "fit.log", "model", ".hydra"} <= {
        p.name for p in (at / "two").iterdir()
    }
    assert (at / "two/.hydra/overrides.yaml").read_text().count("sweeps") == 2


@pytest.mark.slow
@pytest.mark.parametrize("what", ["sweep", "convert"])
def test_two_others_started_at_once(what, at, write_documents, fast):
    write_documents(at / "d.jsonl")
    more = ["-m", *fast, "sweeps=40", "n_topics=2,3", "report=false", "hydra.sweep.dir=two"]
    if what == "convert":
        more = ["corpus=jsonl", "corpus.min_df=1", "to=svmlight", "out=two.svm"]
    command = [sys.executable, "-m", "plugsamp.cli", "convert" if what == "convert" else "fit", *more]
    for _ in range(3):
        both = [
            subprocess.Popen([*command, "corpus.path=d.jsonl"], cwd=at, stderr=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        errors = [process.communicate(timeout=120)[1] for process in both]
        assert sorted(process.returncode for process in both) == [0, 2], errors
        assert (errors[0] if both[0].returncode else errors[1]).count("\n") == 1
        if what == "convert":
            assert len((at / "two.svm").read_text().splitlines()) == 18
            for file in at.glob("two*"):
                file.unlink()
        else:
            assert [status(at / "two" / name)["status"] for name in "01"] == ["done", "done"]
            shutil.rmtree(at / "two")


def test_a_run_into_a_folder_in_use(at, write_documents, run, said):
    write_documents(at / "d.jsonl")
    with Lock(at / "run"):
        assert run("corpus.path=d.jsonl") == 2
        assert [p.name for p in (at / "run").iterdir()] == [".lock"]
    assert said() == f"plugsamp fit: {at / 'run'} {ONE_LINE}"
    assert run("corpus.path=d.jsonl") == 0


def test_a_folder_with_a_run_stays_as_it_is(at, write_documents, run, said):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", "report=false") == 0
    before = snapshot(at / "run")
    assert run("corpus.path=d.jsonl", "seed=3") == 2  # Hydra would put its own files there first
    assert "holds a run already" in said() and snapshot(at / "run") == before


def test_a_refused_run_takes_no_folder_from_another(at):
    folder = RunFolder(["hydra.run.dir=mine"])
    folder.path = Path("mine")
    with Lock("mine"):
        folder.forget()
        assert held("mine")
    folder.forget()
    assert not Path("mine").exists()


def test_a_sweep_into_a_folder_in_use(at, sweep, said):
    with Lock(at / "sweep", LOCK, at / "sweep"):
        assert sweep("n_topics=2,3") == 2
        assert [p.name for p in (at / "sweep").iterdir()] == [LOCK]
    assert said() == f"plugsamp fit: {at / 'sweep'} {ONE_LINE}"
    assert sweep("n_topics=2", "report=false") == 0
    assert not (at / "sweep" / LOCK).exists()


def test_a_job_whose_folder_is_in_use(at, sweep, said):
    with Lock(at / "sweep/0"):
        assert sweep("n_topics=2,3", "report=false") == 2
        assert {p.name for p in (at / "sweep/0").iterdir()} == {".lock", "refused.json"}
    assert said().count(f"#0 fit: {at / 'sweep/0'} {ONE_LINE}") == 1
    assert status(at / "sweep/1")["status"] == "done"


@pytest.mark.parametrize("format, name", [("svmlight", "news.svm"), ("store", "news")])
def test_a_file_that_is_being_converted(format, name, tmp_path):
    corpus = Corpus.from_counts([[1, 2], [3, 0]], responses=["a", "b"])
    with Lock(tmp_path, ".news.lock", tmp_path / "news.mm"):  # it has a vocabulary of the same name
        with pytest.raises(Locked, match=f"{name} is being written by another"):
            write(corpus, tmp_path / name, format, overwrite=True)
        assert [p.name for p in tmp_path.iterdir()] == [".news.lock"]
    assert all(file.exists() for file in write(corpus, tmp_path / name, format).files)
    assert not (tmp_path / ".news.lock").exists()


def test_a_test_part_that_is_there_already(at, write_documents, said):
    write_documents(at / "d.jsonl")
    (at / "out.test.jsonl").write_text("")
    assert main(["convert", "corpus=jsonl", "corpus.path=d.jsonl", "to=jsonl", "out=out.jsonl"]) == 2
    assert "out.test.jsonl: the file is there already" in said()
    assert not (at / "out.jsonl").exists()


def test_a_lock_whose_folder_goes_meanwhile(tmp_path, monkeypatch):
    opened, folder = os.open, tmp_path / "run"

    def removed(path, *options):
        monkeypatch.setattr("plugsamp.files.lock.os.open", opened)
        folder.rmdir()
        return opened(path, *options)

    monkeypatch.setattr("plugsamp.files.lock.os.open", removed)
    with Lock(folder):
        assert held(folder)


def test_what_is_logged_afterwards_is_no_longer_the_run_s(at, write_documents, run):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", "report=false") == 0
    before = (at / "run/fit.log").read_bytes()
    assert run("corpus.path=d.jsonl", "n_topics=0", "hydra.run.dir=other") == 2
    logging.getLogger("plugsamp").warning("something else")
    assert (at / "run/fit.log").read_bytes() == before and not (at / "other").exists()
