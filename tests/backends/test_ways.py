"""Where worker processes are started from: scripts, no script at all, other processes' children."""

from __future__ import annotations

import copy
import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import cloudpickle
import joblib
import numpy as np
import pytest

import plugsamp as ps
from plugsamp.backends import crew, shared

from .leftovers import relatives

pytestmark = pytest.mark.usefixtures("real_nursery")

COUNTS = np.random.default_rng(0).poisson(0.4, size=(60, 200))

PROGRAM = """
import numpy as np, plugsamp as ps

class Mine(ps.losses.Hinge):
    def augment(self, f, y, rng, weight=None):
        kappa, omega = super().augment(f, y, rng, weight)
        return 0.5 * kappa, omega

def go():
    counts = np.random.default_rng(0).poisson(0.4, size=(60, 200))
    corpus = ps.Corpus.from_counts(counts, responses=["a", "b"] * 30)
    chains = [
        ps.Chain(corpus, ps.Model(5, loss=Mine()), ps.kernels.Dense("partial"), backend=backend).run(3)
        for backend in (None, ps.backends.Processes(workers=2))
    ]
    assert len(chains[1].work.pids) == 2
    print("runs" if np.array_equal(chains[0].eta, chains[1].eta) else "differs")
"""
CALLS = {
    "plain": "go()\n",
    "guarded": "if __name__ == '__main__':\n    go()\n",
    "daemonic": (
        "import multiprocessing\nif __name__ == '__main__':\n"
        "    p = multiprocessing.get_context('fork').Process(target=go, daemon=True)\n    p.start()\n"
        "    p.join(60)\n"
    ),
    "thread": "import threading\nt = threading.Thread(target=go)\nt.start()\nt.join()\n",
}


@pytest.mark.parametrize(
    ("how", "call"),
    [
        ("script", "daemonic"),
        ("stdin", "plain"),
        pytest.param("script", "plain", marks=pytest.mark.slow),
        pytest.param("-c", "plain", marks=pytest.mark.slow),
        pytest.param("script", "guarded", marks=pytest.mark.slow),
        pytest.param("script", "thread", marks=pytest.mark.slow),
        pytest.param("-c", "guarded", marks=pytest.mark.slow),
    ],
)
def test_from_a_program(how, call, tmp_path):
    text = PROGRAM + CALLS[call]
    (tmp_path / "program.py").write_text(text)
    arguments = {"script": ["program.py"], "-c": ["-c", text], "stdin": ["-"]}[how]
    done = subprocess.run(
        [sys.executable, *arguments], input=text if how == "stdin" else "", cwd=tmp_path, text=True,
        capture_output=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "runs\n", "")


def chain(backend=None, kernel="dense", **options):
    corpus = ps.Corpus.from_counts(COUNTS, responses=["a", "b"] * 30)
    kernel = ps.registry.resolve("kernels", kernel, collapse="partial")
    return ps.Chain(corpus, ps.Model(5, loss="hinge"), kernel, backend=backend, **options)


def eta_and_pids(backend):
    with chain(backend) as made:
        return made.run(2).eta, made.work.pids


def test_inside_joblib():
    backend = ps.backends.Processes(workers=2)
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    found = joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(eta_and_pids)(backend) for _ in range(2))
    expected = chain().run(2).eta
    for eta, pids in found:
        np.testing.assert_array_equal(eta, expected)
        assert len(pids) == 2
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    joblib.externals.loky.get_reusable_executor().shutdown()


@pytest.mark.slow
def test_in_threads_at_once():
    expected, found = chain().run(4).eta, {}

    def go(number):
        with chain(ps.backends.Processes(workers=2)) as made:
            found[number] = made.run(4).eta

    threads = [threading.Thread(target=go, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(found[0], expected)
    np.testing.assert_array_equal(found[1], expected)


def test_one_backend_for_several_chains():
    backend = ps.backends.Processes(workers=2)
    with chain(backend) as one, chain(backend, seed=1) as two:
        one.run(1)
        two.run(2)
        one.run(1)
        np.testing.assert_array_equal(one.eta, chain().run(2).eta)
        np.testing.assert_array_equal(two.eta, chain(seed=1).run(2).eta)


def test_a_forked_child_does_not_end_the_workers():
    with chain(ps.backends.Processes(workers=2)) as made:
        made.run(1)
        pid = os.fork()
        if pid == 0:
            try:
                made.run(1)  # its arrays are the owner's
            except RuntimeError as error:
                made.close()
                os._exit(0 if f"is that of process {os.getppid()}" in str(error) else 2)
            os._exit(1)
        assert os.waitpid(pid, 0)[1] == 0
        np.testing.assert_array_equal(made.run(1).eta, chain().run(2).eta)


@pytest.mark.parametrize("at", ["the nursery", "the fork", "Windows"])
def test_where_processes_are_forbidden_the_work_is_done_here(at, monkeypatch):
    if at == "Windows":
        monkeypatch.delattr(os, "fork")
        monkeypatch.setattr(shared, "_named", None)
    elif at == "the nursery":

        def no(*arguments, **options):
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(crew.subprocess, "Popen", no)
    else:
        monkeypatch.setattr(crew.Crew, "tell", lambda *_: (_ for _ in ()).throw(BlockingIOError("no room")))
    with pytest.warns(RuntimeWarning, match="no worker processes can be started here") as caught:
        made = chain(ps.backends.Processes(workers=2))
    assert len(caught) == 1
    assert str(made.work) == "this process"
    np.testing.assert_array_equal(made.run(3).eta, chain().run(3).eta)
    made.close()


def test_many_workers_for_few_pieces(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", [tmp_path, *sys.path])  # a Path there, which imports pass over
    with chain(ps.backends.Processes(workers=9)) as made:
        for pid in relatives():
            os.kill(pid, signal.SIGHUP)  # as a terminal that is closed sends to all; the owner decides
        with pytest.raises(TypeError, match="is not copied"):
            copy.deepcopy(made)
        np.testing.assert_array_equal(made.run(2).eta, chain().run(2).eta)
        assert len(relatives()) == 10


def test_workers_beyond_the_cores_sleep(monkeypatch, cores):
    cores(2)
    told, tell = [], crew.Crew.tell

    def telling(self, message, n, *rest):
        told.append((message[0], n))
        return tell(self, message, n, *rest)

    monkeypatch.setattr(crew.Crew, "tell", telling)
    corpus = ps.Corpus.from_counts(COUNTS, responses=["a", "b"] * 30)
    given = corpus, ps.Model(5, loss="hinge"), ps.kernels.Dense("partial")
    with ps.Chain(*given, backend=ps.backends.Processes(workers=5)) as chain:
        np.testing.assert_array_equal(chain.run(2).eta, ps.Chain(*given).run(2).eta)
        assert len(chain.work.pids) == 5
        assert str(chain.work).startswith("5 worker processes, 2 at a time, ")
    assert ("start", 5) in told and {n for what, n in told if what == "run"} <= {1, 2}


def test_short_memory_means_files(monkeypatch, caplog, tmp_path):
    monkeypatch.setattr(shared, "available_bytes", lambda: 100 << 20)
    monkeypatch.setattr(shared.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(shared, "SPARE", (100 << 20) - 1)
    with chain(ps.backends.Processes(workers=2)) as made:
        np.testing.assert_array_equal(made.run(2).eta, chain().run(2).eta)
        assert made.state.arena.folder == tmp_path
    said = [r.message for r in caplog.records if "kept in files in" in r.message]
    assert len(said) == 1
    assert str(tmp_path) in said[0]
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_too_full(monkeypatch, tmp_path):
    full = os.statvfs_result((4096, 4096, 10, 10, 10, 10, 10, 10, 0, 255))
    monkeypatch.setattr(shared.os, "statvfs", lambda _: full)
    with pytest.raises(OSError, match=f"{tmp_path} has 0 MB free, and"):
        chain(ps.backends.Processes(workers=2, folder=str(tmp_path)))


@pytest.mark.parametrize("system", ["Linux", "without memfd"])
def test_shared_memory_has_lost_its_name(system, monkeypatch, shared_names):
    if system != "Linux":
        monkeypatch.setattr(shared, "_ANONYMOUS", False)
    with chain(ps.backends.Processes(workers=2)) as made:
        assert shared_names
        assert not [name for name in shared_names if Path("/dev/shm", name).exists()]  # lost already
        assert str(made.work).endswith("of shared arrays in shared memory")
        np.testing.assert_array_equal(made.run(2).eta, chain().run(2).eta)


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="for Linux, which has anonymous memory")
@pytest.mark.parametrize("why", ["little room", "none at all", "full meanwhile"])
def test_anonymous_memory_where_dev_shm_has_no_room(why, monkeypatch, shared_names, tmp_path):
    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    if why == "little room":  # as in many containers
        small = os.statvfs_result((4096, 4096, 16384, 16384, 16384, 10, 10, 10, 0, 255))
        monkeypatch.setattr(shared.os, "statvfs", lambda _: small)
    elif why == "none at all":
        monkeypatch.setattr(shared.shared_memory, "SharedMemory", full)
    else:
        monkeypatch.setattr(shared.os, "posix_fallocate", full)
    with chain(ps.backends.Processes(workers=2)) as made:
        assert "of shared arrays in anonymous memory (/dev/shm: " in str(made.work)
        assert not [name for name in shared_names if Path("/dev/shm", name).exists()]
        np.testing.assert_array_equal(made.run(2).eta, chain().run(2).eta)


def test_memory_mapped_tokens_are_mapped_by_workers(monkeypatch, tmp_path):
    made = chain()
    words = np.memmap(tmp_path / "words", np.int32, "w+", shape=made.state.words.shape)
    words[:] = made.state.words
    words.flush()

    seen = np.memmap(tmp_path / "words", np.int32, "r")
    monkeypatch.setattr(ps.Corpus, "words", property(lambda self: seen))
    with chain(ps.backends.Processes(workers=2)) as found:
        assert "words" not in found.state.arena.places
        np.testing.assert_array_equal(found.run(2).eta, made.run(2).eta)


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "many", None, 10**6])
def test_nonsense_is_refused(workers):
    with pytest.raises((ValueError, TypeError), match="workers"):
        ps.backends.Processes(workers=workers)


def test_collapsed_kernels_have_one_worker_unless_more_are_asked_for():
    corpus = ps.Corpus.from_counts(COUNTS)
    with ps.Chain(corpus, ps.Model(3), "sparse", backend=ps.backends.Processes()) as made:
        assert made.work.n == 1
    with ps.Chain(corpus, ps.Model(3), "auto", backend=ps.backends.Processes(workers=1)) as made:
        assert made.kernel.partial  # whatever the number of workers: the chain does not depend on it
