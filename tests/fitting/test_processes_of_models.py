"""joblib's processes end with their parent, and one that dies is named by its model."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from plugsamp.backends.failures import WorkerDied
from plugsamp.fitting.parallel import in_parallel
from plugsamp.system.parents import Roll, at_work
from plugsamp.testing.processes import until

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc"
)

PARENT = """
import numpy as np
import plugsamp as ps
rng = np.random.default_rng(0)
corpus = ps.Corpus.from_counts(rng.poisson(1.0, (30, 8)) + 1, responses=["a", "b", "c"] * 10)
ps.fit(corpus, ps.Model(3, loss="hinge"), sweeps=10**7, n_jobs=2, checkpoint="checkpoint", {more})
"""


def state(pid: int) -> str:
    """The state of a process as /proc has it; Z of one that has ended, too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "Z"


def children(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) == parent:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("more", ["multiclass='ovr'", "chains=2"])
def test_nothing_is_left_of_a_parent_that_is_killed(more, tmp_path):
    shared = Path("/dev/shm")
    command = [sys.executable, "-c", PARENT.format(more=more)]
    parent = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    try:
        begun = [tmp_path / f"checkpoint/model-{n:04d}" for n in (0, 1)]
        assert until(lambda: parent.poll() is not None or all(folder.is_dir() for folder in begun))
        pids = children(parent.pid)
        assert len(pids) >= 2
    finally:
        parent.kill()
        parent.wait()
    assert until(lambda: all(state(pid) == "Z" for pid in pids), 10.0)
    mine = [f"-{pid}-" for pid in (parent.pid, *pids)]
    assert until(lambda: not [p for p in shared.glob("*") if any(m in p.name for m in mine)], 10.0)


def test_a_dead_process_names_its_model():
    def work(number):
        if number == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(20 * (number == 2))
        return number

    says = r"the process that was fitting model 2 of 3 \(b\) was killed by SIGKILL; the system does that"
    with (
        closing(in_parallel(work, [(0,), (1,), (2,)], "abc", 2)) as done,
        pytest.raises(WorkerDied, match=says),
    ):
        list(done)


def test_the_first_that_is_gone_counts():
    with Roll() as roll:
        with at_work(roll.ticket, 7):
            pass
        first, second = (at_work(roll.ticket, number) for number in (3, 4))
        assert roll.lost == ()
        for one in (first, second):
            one.__enter__()
        until(lambda: False, 0.05)
        first.gen.gi_frame.f_locals["connection"].close()  # as the system does for who has died
        assert roll.await_lost() == (3,)
        second.gen.gi_frame.f_locals["connection"].close()
        until(lambda: False, 0.05)
        assert roll.lost == (3,)


def test_work_without_a_parent_that_listens():
    with Roll() as roll:
        ticket = roll.ticket
    with at_work(ticket, 0), at_work(None, 1):
        pass
