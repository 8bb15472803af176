"""Sweeps whose runs are searched for, or run at once."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys

import pytest

from plugsamp.backends.processes import Processes
from plugsamp.checkpoint.generations import Generations
from plugsamp.cli import main
from plugsamp.system import cores
from plugsamp.testing.processes import until

from ..backends.leftovers import gone_within
from .swept import needs, status, table

#: Two runs of a sweep at a time, in processes.
TWO_AT_ONCE = ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"]


def test_cores_are_divided(monkeypatch):
    monkeypatch.setattr(cores, "cpu_count", lambda: 8)
    for sharers, own in ((1, 8), (2, 4), (3, 2), (20, 1)):
        with cores.shared_by(sharers):
            assert cores.own() == own and cores.all_cores() == 8
            work = Processes().open(partial=True)
            try:
                assert work.n == own
            finally:
                work.close()
    assert cores.sharers() == 1


def jobs_at_once(monkeypatch, arguments) -> tuple[int, list[str]]:
    """What `Sweep` finds in a configuration, and what it adds to that; nothing is run."""
    from plugsamp.commands import sweeping

    found = []
    begin = sweeping.Sweep.begin

    def observed(self, config):
        with contextlib.suppress(sweeping.Completed):
            begin(self, config)
        found.append(self)
        raise ValueError("that is all")

    with monkeypatch.context() as patch:
        patch.setattr(sweeping.Sweep, "begin", observed)
        patch.setattr(cores, "cpu_count", lambda: 4)
        patch.setattr("plugsamp.commands.hydra_app.finish", lambda sweep: (None, 0))
        assert main(["fit", "-m", *arguments]) == 2
    return found[0].at_once, found[0].options


SEEDED = "hydra.sweeper.sampler.seed=0"


@pytest.mark.parametrize(
    "plugin, arguments, at_once, options",
    [
        (None, [], 1, []),
        ("joblib_launcher", ["hydra/launcher=joblib"], 4, []),
        ("joblib_launcher", ["hydra/launcher=joblib", "hydra.launcher.n_jobs=3"], 3, []),
        ("joblib_launcher", ["hydra/launcher=joblib", "hydra.launcher.n_jobs=-2"], 3, []),
        ("joblib_launcher", ["hydra/launcher=joblib", "hydra.launcher.n_jobs=60"], 6, []),
        ("joblib_launcher", ["hydra/launcher=joblib", "hydra.sweeper.max_batch_size=2"], 2, []),
        ("submitit_launcher", ["hydra/launcher=submitit_local"], 4, ["hydra.sweeper.max_batch_size=4"]),
        ("submitit_launcher", ["hydra/launcher=submitit_slurm"], 1, []),
        ("optuna_sweeper", ["hydra/sweeper=optuna"], 1, ["hydra.sweeper.direction=maximize", SEEDED]),
        (
            "optuna_sweeper",
            ["hydra/sweeper=optuna", "metric=rmse", "loss=gaussian"],
            1,
            ["hydra.sweeper.direction=minimize", SEEDED],
        ),
    ],
)
def test_how_many_run_at_once(at, monkeypatch, plugin, arguments, at_once, options):
    if plugin:
        needs(f"hydra_{plugin}")
    assert jobs_at_once(monkeypatch, ["n_topics=2,3", "seed=0,1,2", *arguments]) == (at_once, options)


def test_a_search_for_the_worst_is_refused(at, sweep, said):
    needs("hydra_optuna_sweeper")
    assert sweep("hydra/sweeper=optuna", "hydra.sweeper.direction=minimize", "n_topics=2,3") == 2
    assert "metric=main more is better, maximize" in said()


def test_a_search(at, sweep, read_csv, said):
    needs("hydra_optuna_sweeper")
    search = ["hydra/sweeper=optuna", "weights.variance=interval(-2.4,1.6)", "report=false"]
    assert sweep(*search, "hydra.sweeper.n_trials=4") == 2  # a negative one is a mistake, and ends no search
    found = read_csv(at / "sweep/sweep.csv")
    assert {row["status"] for row in found} == {"done", "failed"} and len(found) == 4
    best = (at / "sweep/optimization_results.yaml").read_text()
    assert f"best_value: {found[0]['test_accuracy']}" in best
    said()
    assert sweep(*search, "hydra.sweeper.n_trials=5") == 2  # the same choices, and one more
    assert said().count("done already") == sum(row["status"] == "done" for row in found)
    assert len(read_csv(at / "sweep/sweep.csv")) == 5


DEADLY = """
import os, signal
import plugsamp as ps

class Deadly(ps.losses.Hinge):
    '''Ends its process after some sweeps, where it is to.'''

    def __init__(self, kills: bool = False):
        super().__init__()
        self.kills, self.calls = kills, 0

    def augment(self, f, y, rng, weight=None):
        self.calls += 1
        if self.kills and self.calls > 20:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().augment(f, y, rng, weight)
"""


def in_processes(at, arguments, **environment):
    """(exit code, output, errors) of a sweep whose jobs are processes."""
    command = [sys.executable, "-m", "plugsamp.cli", "fit", "-m", "hydra.sweep.dir=sweep", *arguments]
    process = subprocess.Popen(
        command,
        cwd=at,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )
    out, err = process.communicate(timeout=240)
    return process.returncode, out, err


def test_jobs_at_once_by_joblib(at, write_documents, fast, read_csv):
    needs("hydra_joblib_launcher")
    write_documents(at / "d.jsonl", n=30)
    arguments = [*fast, "corpus.path=d.jsonl", "report=false", *TWO_AT_ONCE]
    arguments += ["n_topics=0,2,3", "kernel=light_pc", "backend=processes"]
    code, out, err = in_processes(at, arguments)
    assert code == 2, err
    assert dict(table(at, read_csv)) == {"0": "failed", "1": "done", "2": "done"}
    assert "n_topics must be from 1 to 65,535, not 0" in out
    lines = [line for line in err.splitlines() if line.startswith("#")]
    assert {line.split()[0] for line in lines} == {"#0", "#1", "#2"}
    workers = max(cores.all_cores() // 2, 1)
    assert sum(f"{workers} worker process" in line for line in lines) == 2
    assert main(["fit", *fast, "corpus.path=d.jsonl", "kernel=light_pc", "hydra.run.dir=alone"]) == 0
    assert (at / "alone/predictions.csv").read_bytes() == (at / "sweep/2/predictions.csv").read_bytes()
    launcher = ("#", "\t#", "Joblib.Parallel(", "Launching jobs, ")
    left = [line for line in err.splitlines() if not line.startswith(launcher)]
    assert left == ["plugsamp fit: 1 of 3 runs have no outcome"]  # whole lines, and no others


@pytest.mark.slow
def test_a_job_that_is_killed_takes_no_other_along(at, site, install, write_documents, fast, read_csv):
    needs("hydra_joblib_launcher")
    install(site, "deadly", "deadly_loss", DEADLY, {"losses": {"deadly": "Deadly"}})
    write_documents(at / "d.jsonl")
    arguments = [*fast, "corpus.path=d.jsonl", "report=false", *TWO_AT_ONCE]
    arguments += ["loss=deadly", "loss.kills=true,false", "seed=0,1", "kernel=light_pc", "sweeps=30"]
    code, _, err = in_processes(at, arguments, PYTHONPATH=str(site))
    assert code == 1, err
    found = {(row["loss.kills"], row["seed"]): row["status"] for row in read_csv(at / "sweep/sweep.csv")}
    assert {how for (kills, _), how in found.items() if kills == "False"} == {"done"}, err
    assert {how for (kills, _), how in found.items() if kills == "True"} == {"killed"}, err
    assert re.search(r"the launcher has ended early: TerminatedWorkerError: .* \(in run \d", err), err
    assert "going on with the runs" in err
    assert "2 of 4 runs have no outcome" in err
    pids = [status(path.parent)["process"] for path in (at / "sweep").glob("*/status.json")]
    assert all(gone_within(5.0, pid) for pid in pids)


@pytest.mark.slow
def test_jobs_of_submitit(at, write_documents, fast, read_csv):
    needs("hydra_submitit_launcher")
    write_documents(at / "d.jsonl")
    arguments = [
        *fast,
        "corpus.path=d.jsonl",
        "hydra/launcher=submitit_local",
        "n_topics=0,2",
        "report=false",
    ]
    code, out, err = in_processes(at, arguments)
    assert code == 2, err
    assert table(at, read_csv) == [("1", "done"), ("0", "failed")]
    assert "n_topics must be from 1 to 65,535, not 0" in out


@pytest.mark.slow
@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_an_interrupted_sweep_of_joblib_keeps_checkpoints(at, write_documents, fast, read_csv, number, code):
    needs("hydra_joblib_launcher")
    write_documents(at / "d.jsonl")
    arguments = [*fast, "corpus.path=d.jsonl", "report=false", *TWO_AT_ONCE]
    command = [sys.executable, "-m", "plugsamp.cli", "fit", "-m", *arguments, "sweeps=1000000", "seed=0,1,2"]
    process = subprocess.Popen(
        [*command, "hydra.sweep.dir=sweep"], cwd=at, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, start_new_session=True, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )  # fmt: skip
    try:
        traces = [at / f"sweep/{n}/trace.csv" for n in range(2)]
        assert until(lambda: all(t.exists() and t.stat().st_size > 500 for t in traces), 120.0)
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does
        else:
            process.send_signal(number)
        err = process.communicate(timeout=120)[1]
    finally:
        process.kill()
        process.wait()
    assert process.returncode == code and "Traceback" not in err, err
    found = {row["folder"]: row for row in read_csv(at / "sweep/sweep.csv")}
    for n in "01":
        assert "the checkpoint in" in found[n]["error"] and found[n]["status"] == "interrupted"
        assert Generations(at / f"sweep/{n}/checkpoint")
    assert all(gone_within(10.0, status(at / f"sweep/{n}")["process"]) for n in range(2))
