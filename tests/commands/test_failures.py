"""Runs that something in a worker ends: what is said, what stands, and how they go on."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from plugsamp.checkpoint.generations import Generations
from plugsamp.cli import main
from plugsamp.testing.processes import until

from ..backends.leftovers import gone_within
from .test_resume import assert_same, stop

PLUGIN = """
import os, resource, signal
from pathlib import Path
import numpy as np
import plugsamp as ps

class Fragile(ps.losses.Hinge):
    '''Does something in a worker once there is a checkpoint, and never again.'''

    def __init__(self, what: str):
        super().__init__()
        self.what, self.owner = what, os.getpid()

    def augment(self, f, y, rng, weight=None):
        if os.getpid() != self.owner and any(Path("run/checkpoint").glob("0*")) and not Path("done").exists():
            Path("done").touch()
            getattr(self, self.what)()
        return super().augment(f, y, rng, weight)

    def fail(self):
        raise KeyError("no such thing")

    def grow(self):
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + (64 << 20),) * 2)
        np.ones(1 << 26)

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)
"""

WORKERS = ["backend=processes", "backend.workers=2"]


@pytest.mark.parametrize(
    ("what", "code", "said"),
    [
        pytest.param("fail", 1, "no such thing", marks=pytest.mark.slow),
        pytest.param("grow", 2, "Unable to allocate 512. MiB", marks=pytest.mark.slow),
        ("die", 2, "plugsamp fit: worker "),
    ],
)
def test_a_run_that_fails_in_a_worker_goes_on(
    what, code, said, at, site, install, write_documents, fast, capsys
):
    install(site, "fragile", "fragile_loss", PLUGIN, {"losses": {"fragile": "Fragile"}})
    write_documents(at / "d.jsonl", n=30)
    options = ["corpus.path=d.jsonl", "checkpoint.sweeps=1", "sweeps=12", "loss=fragile", f"loss.what={what}"]
    options += ["kernel=light_pc", *WORKERS]
    command = ["fit", *fast, *options, "hydra.run.dir=run"]
    if code == 2:
        assert main(command) == code
        errors, owner = capsys.readouterr().err, os.getpid()
    else:  # no mistake of the user's: the process ends with a traceback
        process = subprocess.Popen(
            [sys.executable, "-m", "plugsamp.cli", *command],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
            env={**os.environ, "PYTHONPATH": str(site)},
        )  # fmt: skip
        errors, owner = process.communicate(timeout=60)[1], process.pid
        assert process.returncode == code, errors
    assert said in errors
    if what == "fail":  # as in the run's own process: from the plugin's own code on
        told = errors.partition("plugsamp fit: an error in a plugin's code\n")[2].splitlines()
        assert told[0] == "Traceback (most recent call last):" and "fragile_loss.py" in told[1]
        assert sum("  File " in line for line in told) == 2 and told[-3] == "KeyError: 'no such thing'"
    assert f"plugsamp resume run={at / 'run'} goes on from its last checkpoint" in errors
    assert gone_within(5.0, owner)
    assert not [p for p in (at / "run").rglob(".*") if p.name != ".hydra"]  # nothing half written
    generations = Generations(at / "run/checkpoint")
    arrays, content = generations.newest()
    assert content["sweep"] >= 1 and arrays["z"].max() < 3
    assert len(generations.paths()) <= 2
    assert main(["resume", "run=run"]) == 0
    if what != "die":  # the outcome is the same
        return
    (at / "run").rename(at / "failed")
    assert main(["fit", *fast, *options, "hydra.run.dir=run"]) == 0  # with "done" there, nothing happens
    assert_same(at / "run", at / "failed")


def test_a_mistake_is_no_end_of_a_run(at, write_documents, run, said):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl") == 0
    assert main(["resume", "run=run", "sweeps=3"]) == 2
    assert "goes on from its last checkpoint" not in said()


def test_another_number_of_workers(at, write_documents, run, monkeypatch):
    write_documents(at / "d.jsonl", n=30)
    options = ["corpus.path=d.jsonl", "kernel=light_pc", "weights=horseshoe"]
    assert run(*options) == 0
    (at / "run").rename(at / "whole")
    with monkeypatch.context() as patch:
        stop(patch, 3)
        assert run(*options, *WORKERS) == 130
    with monkeypatch.context() as patch:
        stop(patch, 5)
        assert main(["resume", "run=run", "backend.workers=3"]) == 130
    assert main(["resume", "run=run", "backend=serial"]) == 0
    for name in ("config.yaml", "metrics.json"):  # where it ran is said there
        (at / "whole" / name).write_bytes((at / "run" / name).read_bytes())
    assert_same(at / "whole", at / "run")


def test_adlda_on_another_number_of_workers_is_told(at, write_documents, run, monkeypatch, said):
    write_documents(at / "d.jsonl", n=200)
    options = ["corpus.path=d.jsonl", "kernel=sparse", "loss=none", *WORKERS]
    with monkeypatch.context() as patch:
        stop(patch, 3)
        assert run(*options) == 130
    said()
    assert main(["resume", "run=run", "backend.workers=1"]) == 0
    told = said()
    assert "(2 groups of documents by rotation)" in told and "(exact)" in told
    assert "draws depend on it with this kernel" in told
    assert until(lambda: gone_within(0.1), 5.0)


def test_a_plugin_that_ends_the_program_has_not_done_the_run(at, run, monkeypatch):
    monkeypatch.setattr("plugsamp.commands.run_fit.run", lambda *_: sys.exit(0))
    with pytest.raises(RuntimeError, match=r"ended by sys.exit\(0\)"):
        run("corpus.path=d.jsonl")
    assert '"failed"' in (at / "run/status.json").read_text()
