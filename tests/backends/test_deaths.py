"""Whatever ends in the middle of a sweep: the user hears of it within seconds, and nothing is left."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.backends import WorkerDied, WorkerError, crew

from .leftovers import gone_within, relatives

pytestmark = pytest.mark.usefixtures("real_nursery")

COUNTS = np.random.default_rng(0).poisson(0.4, size=(60, 200))
LABELS = ["a", "b"] * 30
DENSE = ps.kernels.Dense("partial")

PLUGIN = """
import os, signal, time, warnings
import numpy as np
import plugsamp as ps

OWNER = os.getpid()

class Odd(Exception):
    def __init__(self, one, two):
        super().__init__(one + two)

class Loss(ps.losses.Hinge):
    def __init__(self, what: str = "", folder: str = "", owner: int = 0):
        super().__init__()
        self.what, self.folder, self.owner = what, folder, owner

    def augment(self, f, y, rng, weight=None):
        if os.getpid() != self.owner and self.what:
            getattr(self, self.what)()
        return super().augment(f, y, rng, weight)

    def fail(self):
        raise KeyError("no such thing")

    def leave(self):
        raise SystemExit(0)

    def fail_oddly(self):
        raise Odd("one", "two")

    def warn(self):
        warnings.warn("mind the gap", RuntimeWarning)

    def grow(self):
        np.ones(1 << 36)

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def sleep(self):
        open(os.path.join(self.folder, str(os.getpid())), "w").close()
        time.sleep(600)

    def nap(self):
        if not os.listdir(self.folder):
            open(os.path.join(self.folder, str(os.getpid())), "w").close()
            time.sleep(0.5)
"""


@pytest.fixture
def make(site):
    """Makes chains whose loss does something in a worker."""
    (site / "odd_loss.py").write_text(PLUGIN)
    from odd_loss import Loss

    def make(what="", workers=2, folder=""):
        corpus = ps.Corpus.from_counts(COUNTS, responses=LABELS)
        loss = Loss(what, folder=str(folder), owner=os.getpid())
        return ps.Chain(corpus, ps.Model(5, loss=loss), DENSE, backend=ps.backends.Processes(workers=workers))

    return make


@pytest.fixture
def marks(tmp_path):
    """Where a sleeping worker leaves its number."""
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


#: Seconds within which all must be over, however loaded the machine: sleeping workers sleep for ten minutes.
PATIENCE = 120.0


def await_file(folder, seconds=PATIENCE):
    until = time.monotonic() + seconds
    while not any(folder.iterdir()):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_killed_worker_ends_the_run(make, marks):
    chain = make("sleep", folder=marks)
    first, second = chain.work.pids

    def kill():
        await_file(marks)
        os.kill(int(next(marks.iterdir()).name), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(
        WorkerDied, match=r'worker \d of 2 .* SIGKILL; .*memory.* it was at "documents" of sweep 1'
    ):
        chain.run(1)
    killer.join()
    assert gone_within(PATIENCE)
    assert {first, second}.isdisjoint(relatives())
    with pytest.raises(WorkerDied, match="this chain has ended: worker"):
        chain.run(1)
    assert chain.z.max() < 5  # what it was can be looked at


def test_a_killed_nursery_ends_the_run(make):
    chain = make()
    nursery = set(relatives()) - set(chain.work.pids)
    for pid in nursery:
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(WorkerDied, match="that worker processes are forked from was killed by SIGKILL"):
        chain.run(50)
    assert gone_within(PATIENCE)


def test_a_nursery_that_cannot_start_ends_by_itself(make, tmp_path, monkeypatch, capfd):
    (tmp_path / "threadpoolctl.py").write_text("raise RuntimeError('an installation that is broken')")
    import threadpoolctl  # noqa: F401 - this process has it already

    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(WorkerDied, match="that worker processes are forked from ended with exit code 1"):
        make().run(1)
    assert "an installation that is broken" in capfd.readouterr().err


def test_an_exception_in_a_plugin(make):
    chain = make("fail")
    with pytest.raises(KeyError, match="no such thing") as info:
        chain.run(1)
    assert "in `augment` of the loss Loss" in info.value.__notes__
    assert "odd_loss.py" in str(info.value.__cause__)
    assert "raise KeyError" in str(info.value.__cause__)
    chain.close()


def test_a_plugin_that_ends_the_program_has_failed(make):
    with (
        make("leave") as chain,
        pytest.raises(RuntimeError, match=r'"documents" of sweep 1 called sys.exit\(0\)'),
    ):
        chain.run(1)


def test_an_exception_that_cannot_be_sent(make):
    chain = make("fail_oddly")
    with pytest.raises(WorkerError, match="Odd: onetwo") as info:
        chain.run(1)
    assert "odd_loss.py" in str(info.value.__cause__)
    chain.close()


def test_warnings_come_through_once(make):
    chain = make("warn")
    with pytest.warns(RuntimeWarning, match="mind the gap") as caught:
        chain.run(1)
    assert 1 <= len(caught) <= 2  # one a worker
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chain.run(1)
    chain.close()


SCRIPT = """
import os, resource, sys
import numpy as np
import plugsamp as ps
from odd_loss import Loss

counts = np.random.default_rng(0).poisson(0.4, size=(60, 200))
corpus = ps.Corpus.from_counts(counts, responses=["a", "b"] * 30)
{before}
model = ps.Model(5, loss=Loss({what!r}, folder={folder!r}, owner=os.getpid()))
chain = ps.Chain(corpus, model, ps.kernels.Dense("partial"), backend=ps.backends.Processes(workers=2))
{after}
"""


def script(site, tmp_path, what="", before="", after="chain.run(1)"):
    (site / "odd_loss.py").write_text(PLUGIN)
    path = tmp_path / "script.py"
    folder = tmp_path / "marks"
    folder.mkdir()
    path.write_text(SCRIPT.format(what=what, folder=str(folder), before=before, after=textwrap.dedent(after)))
    environment = {**os.environ, "PYTHONPATH": str(site)}
    process = subprocess.Popen(
        [sys.executable, str(path)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return process, folder


INTERRUPTED = """
    import pathlib, signal, threading, time

    seen = []

    def interrupted(*_):
        seen.append(1)
        raise KeyboardInterrupt

    def interrupt():
        marks = pathlib.Path({folder!r})
        while not any(marks.iterdir()):
            time.sleep(0.01)
        for number in range({times}):
            while len(seen) < number:
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

    signal.signal(signal.SIGINT, interrupted)
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        chain.run(10**9)
    except KeyboardInterrupt:
        while len(seen) < {times}:
            time.sleep(0.01)
"""


def test_an_interrupt_leaves_a_chain_that_can_go_on(site, tmp_path):
    """Interrupts are for a process of their own: a late one must not reach the test run."""
    after = (
        INTERRUPTED.format(folder=str(tmp_path / "marks"), times=1)
        + """
    done = chain.sweep
    assert chain.run(2).sweep == done + 2
    chain.close()
    print("went on")
    """
    )
    process, _ = script(site, tmp_path, "nap", after=after)
    assert process.communicate(timeout=PATIENCE) == ("went on\n", "")
    assert gone_within(PATIENCE, process.pid)


def test_a_worker_that_gives_no_answer_is_named(make, marks, monkeypatch, caplog):
    monkeypatch.setattr(crew, "SLOW", 0.1)
    with make("nap", folder=marks) as chain:
        chain.run(1)
    assert f"(process {next(marks.iterdir()).name})" in caplog.text
    assert caplog.text.count('of 2, at "documents" of sweep 1') == 1


def test_a_second_interrupt_of_a_fit_does_not_wait(site, tmp_path):
    """To a fit the first is a wish only, and its workers are in the midst of it when the second comes."""
    after = """
        import signal, threading, time
        from pathlib import Path

        def interrupt():
            while not any(Path({folder!r}).iterdir()):
                time.sleep(0.01)
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.2)

        chain.close()
        threading.Thread(target=interrupt, daemon=True).start()
        try:
            ps.fit(corpus, model, ps.kernels.Dense("partial"), backend=ps.backends.Processes(workers=2),
                   init="random", checkpoint={folder!r} + ".check")
        except KeyboardInterrupt as error:
            print(type(error).__name__)
    """.format(folder=str(tmp_path / "marks"))
    process, _ = script(site, tmp_path, "sleep", after=after)
    assert process.communicate(timeout=PATIENCE) == ("Interrupted\n", "")
    assert gone_within(PATIENCE, process.pid)


def test_a_second_interrupt_does_not_wait(site, tmp_path):
    after = INTERRUPTED.format(folder=str(tmp_path / "marks"), times=2) + "    print(len(seen))\n"
    process, _ = script(site, tmp_path, "sleep", after=after)
    assert process.communicate(timeout=PATIENCE) == ("2\n", "")
    assert gone_within(PATIENCE, process.pid)


def test_a_killed_owner_leaves_nothing(site, tmp_path):
    process, marks = script(site, tmp_path, "sleep")
    await_file(marks)
    assert len(relatives(process.pid)) == 3
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert gone_within(PATIENCE, process.pid)


@pytest.mark.slow
def test_all_killed_at_once_leave_nothing(site, tmp_path):
    process, marks = script(site, tmp_path, "sleep")
    await_file(marks)
    for pid in [*relatives(process.pid), process.pid]:
        os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    assert gone_within(PATIENCE, process.pid)


def test_out_of_memory_in_a_worker(site, tmp_path):
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]  # 4 GB, or less where less may be had already
    least = min((4 << 30, hard), key=lambda n: n % 2**64)  # RLIM_INFINITY is -1
    before = f"resource.setrlimit(resource.RLIMIT_AS, ({least}, {hard}))"
    process, _ = script(site, tmp_path, "grow", before)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "in `grow`" in errors or "in grow" in errors
    assert (
        errors.strip()
        .splitlines()[-2]
        .startswith(("MemoryError", "numpy._core._exceptions._ArrayMemoryError"))
    )
    assert gone_within(PATIENCE, process.pid)


def test_too_little_memory_for_blas_is_told():
    """OpenBLAS by itself never comes back."""
    text = """
        import re, resource
        import numpy as np
        from plugsamp.system.blas import single_thread
        size = int(re.search(r"VmSize:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) << 10
        resource.setrlimit(resource.RLIMIT_AS, (size + (20 << 20),) * 2)
        try:
            with single_thread():
                np.ones((300, 300)) @ np.ones((300, 300))
        except MemoryError:
            print("told")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "told\n", "")


@pytest.mark.slow
def test_too_little_memory_to_attach(site, tmp_path):
    """An address space that holds the arrays in the owner and no more in the workers."""
    after = """
        from plugsamp.backends import shared
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        chain.run(1)  # the owner then has all that it needs
        chain.close()
        chain.state.arena.array("large", 1 << 32, np.uint8, 0.0)
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 8 << 30))
        chain.run(1)
    """
    process, _ = script(site, tmp_path, after=after)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "MemoryError: cannot map 4,294,967,296 bytes of shared memory" in errors
    assert gone_within(PATIENCE, process.pid)


@pytest.mark.parametrize(
    "how",
    [
        "chain.run(1)",
        "1 / 0",
        pytest.param("chain.run(1); del chain", marks=pytest.mark.slow),
        pytest.param("import sys; sys.exit(3)", marks=pytest.mark.slow),
    ],
)
def test_an_end_without_close_leaves_nothing(how, site, tmp_path):
    process, _ = script(site, tmp_path, after=how)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == {"i": 3, "1": 1}.get(how[0], 0), errors
    assert not relatives(process.pid)


def test_a_dropped_chain_ends_its_workers(make):
    chain = make()
    assert len(relatives()) == 3
    del chain
    assert gone_within(PATIENCE)
