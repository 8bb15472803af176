"""Fits with checkpoints: whatever stops one, it goes on as if nothing had."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from plugsamp.backends import Processes
from plugsamp.chain import NonFinite
from plugsamp.checkpoint.generations import Generations
from plugsamp.checkpoint.lock import Lock, Locked
from plugsamp.checkpoint.options import Checkpoints
from plugsamp.corpus import Corpus
from plugsamp.covariates.options import Covariates
from plugsamp.errors import Interrupted
from plugsamp.fitting import fit
from plugsamp.kernels import Dense
from plugsamp.losses.hinge import Hinge
from plugsamp.model import Model
from plugsamp.models import save_model
from plugsamp.second_step import SecondStep
from plugsamp.storage import StorageError


def corpus() -> Corpus:
    rng = np.random.default_rng(5)
    counts = rng.poisson(0.5, size=(90, 30))
    classes = np.array(["x", "y", "z"], dtype=object)[rng.integers(3, size=90)]
    fields = {"year": rng.standard_normal(90), "land": list(np.array(["a", "b"])[rng.integers(2, size=90)])}
    return Corpus.from_counts(counts, responses=classes, fields=fields)


CORPUS = corpus()
MODEL = {"alpha": 0.3, "beta": 0.1, "loss": "hinge"}


def run(folder=None, sweeps=20, every=4, kernel="light_pc", model=MODEL, corpus=CORPUS, keep=True, **options):
    """A fit with a checkpoint every few sweeps."""
    if folder is not None:
        options["checkpoint"] = Checkpoints(folder, sweeps=every, minutes=None, keep=keep)
    return fit(corpus, Model(5, **model), kernel, sweeps=sweeps, **options)


class Stopped(Exception):
    """The end of a process, as far as the fit can tell."""


def stop_after(sweep):
    def observe(row):
        if row["sweep"] == sweep:
            raise Stopped

    return observe


def broken_off(folder, after, **options) -> None:
    with pytest.raises(Stopped):
        run(folder, observers=[stop_after(after)], **options)


def timeless(trace):
    return [{k: v for k, v in row.items() if k not in ("seconds", "elapsed")} for row in trace]


def assert_same(one, two) -> None:
    assert one.predictor.digest == two.predictor.digest
    assert np.array_equal(one.chain.z, two.chain.z) and np.array_equal(one.chain.eta, two.chain.eta)
    assert timeless(one.trace) == timeless(two.trace) and one.start == two.start


def names(folder):
    return sorted(path.name for path in folder.iterdir())


KINDS = {
    "partial, warm start": {},
    "full": {"kernel": "dense"},
    "horseshoe and learnt priors": {
        "model": MODEL | {"weights": "horseshoe", "learn_alpha": "slice", "learn_beta": "slice"}
    },
    "spike and slab": {"model": MODEL | {"topics": "spike_slab"}},
    "two steps": {"supervised": "two_step", "second_step": SecondStep(sweeps=8)},
    "covariates": {"covariates": Covariates(numeric=["year"], categorical=["land"], words="tfidf")},
    "a variance": {
        "corpus": CORPUS.with_responses(np.arange(90.0)),
        "model": MODEL | {"loss": {"name": "gaussian", "variance": "sample"}, "standardise": True},
    },
    "no responses": {"model": MODEL | {"loss": "none"}, "kernel": "sparse"},
    "topics given": {"init": np.arange(CORPUS.n_tokens) % 5},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "stop",
    [
        pytest.param(6, marks=pytest.mark.slow),  # before a draw was kept
        15,
    ],
)
def test_a_fit_that_was_stopped_is_one_that_was_not(kind, stop, tmp_path):
    options = KINDS[kind]
    broken_off(tmp_path / "c", stop, **options)
    assert_same(run(tmp_path / "c", resume=True, **options), run(**options))


def test_what_is_kept_of_checkpoints(tmp_path):
    broken_off(tmp_path / "c", 15)
    assert names(tmp_path / "c") == ["000002-sweep-8", "000003-sweep-12"]
    result = run(tmp_path / "c", resume=True)
    assert names(tmp_path / "c") == ["000005-sweep-20"]
    again = run(tmp_path / "c", resume=True)  # done: nothing is sampled
    assert_same(again, result)
    assert names(tmp_path / "c") == ["000005-sweep-20"]
    run(tmp_path / "d", keep=False)
    assert names(tmp_path / "d") == []


def test_resume_starts_where_there_is_nothing_and_nothing_is_written_over(tmp_path):
    first = run(tmp_path / "c", sweeps=8, resume=True)
    assert_same(first, run(sweeps=8))
    with pytest.raises(ValueError, match="holds a checkpoint: resume=True"):
        run(tmp_path / "c", sweeps=8)
    save_model(tmp_path / "model", first.predictor)
    before = sorted(path.name for path in (tmp_path / "model").iterdir())
    with pytest.raises(StorageError, match="holds a model or a chain, not checkpoints"):
        run(tmp_path / "model", sweeps=8, resume=True)
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == before
    with pytest.raises(ValueError, match="needs checkpoint"):
        run(resume=True)
    with pytest.raises(TypeError, match="checkpoint must be a Checkpoints or a folder, not int"):
        run(checkpoint=3)


def test_by_the_clock(tmp_path):
    seen = []

    def observe(row):
        seen.append(len(Generations(tmp_path / "c").paths()))
        time.sleep(0.02)

    options = Checkpoints(tmp_path / "c", minutes=0.05 / 60)
    fit(CORPUS, Model(5, **MODEL), "dense", sweeps=12, checkpoint=options, observers=[observe])
    assert seen[0] == 0 and seen[-1] == 2
    for wrong in ({"minutes": 0}, {"sweeps": 0}, {"keep": 1}, {"minutes": "3"}, {"minutes": float("nan")}):
        with pytest.raises((ValueError, TypeError)):
            Checkpoints("c", **wrong)


# -- more sweeps, or fewer ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first, then, options",
    [
        (10, 20, {}),  # nothing of what was kept is kept of twice as many
        (10, 20, {"burn_in": 2, "thin": 5}),  # all of it is
        (10, 13, {"burn_in": 2, "thin": 3}),
        (20, 10, {}),  # stopped after 8
        (10, 20, {"supervised": "two_step", "second_step": SecondStep(sweeps=4)}),
    ],
)
def test_another_number_of_sweeps_is_as_from_the_start(first, then, options, tmp_path, caplog):
    if first < then:
        run(tmp_path / "c", first, **options)
    else:
        broken_off(tmp_path / "c", 9, sweeps=first, **options)
    assert_same(run(tmp_path / "c", then, resume=True, **options), run(None, then, **options))
    assert "stay" not in caplog.text


def test_draws_that_a_longer_run_would_not_keep_stay_and_are_told(tmp_path, caplog):
    run(tmp_path / "c", 10, burn_in=2, thin=3)
    result = run(tmp_path / "c", 15, burn_in=2, thin=3, resume=True)
    assert "the draws of sweeps 4, 7, 10 stay; a run of 15 sweeps from the start would keep" in caplog.text
    assert len(result.predictor.eta) == 3 + 2  # and 12, 15


def test_a_run_can_be_ended_where_it_stands(tmp_path):
    broken_off(tmp_path / "c", 9)
    result = run(tmp_path / "c", 8, resume=True)
    assert result.n_sweeps == 8 and len(result.predictor.eta) == 1
    with pytest.raises(ValueError, match="has done 8 sweeps already"):
        run(tmp_path / "c", 7, resume=True)


# -- signals ------------------------------------------------------------------------------------------


def send(number, *sweeps):
    def observe(row):
        if row["sweep"] in sweeps:
            os.kill(os.getpid(), number)

    return observe


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_is_granted_after_the_sweep(number, code, tmp_path):
    before = signal.getsignal(number)
    if before == signal.SIG_IGN:
        pytest.skip("ignored here, and so it stays")
    with pytest.raises(Interrupted, match=r"after 6 of 20 sweeps; the checkpoint .* holds it all") as stop:
        twice = [send(number, 6)] * (1 if number == signal.SIGINT else 2)  # of a terminal and of its shell
        run(tmp_path / "c", observers=twice)
    assert stop.value.exit_code == code and stop.value.sweep == 6
    assert signal.getsignal(number) is before
    assert names(tmp_path / "c") == ["000001-sweep-4", "000002-sweep-6"]
    assert_same(run(tmp_path / "c", resume=True), run())


def test_a_second_signal_ends_at_once(tmp_path):
    done = []

    def observe(row):
        if row["sweep"] == 6:
            os.kill(os.getpid(), signal.SIGINT)
            done.append("first")
            os.kill(os.getpid(), signal.SIGINT)
            done.append("second")

    with pytest.raises(Interrupted):
        run(tmp_path / "c", observers=[observe])
    assert done == ["first"] and names(tmp_path / "c") == ["000001-sweep-4"]
    assert_same(run(tmp_path / "c", resume=True), run())


def test_a_signal_during_the_start_does_not_wait(tmp_path, monkeypatch):
    monkeypatch.setattr("plugsamp.fitting.warm", lambda chain, start: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(Interrupted, match="interrupted"):
        run(tmp_path / "c")
    assert names(tmp_path / "c") == []


def test_without_checkpoints_signals_are_as_ever():
    with pytest.raises(KeyboardInterrupt) as stop:
        run(observers=[send(signal.SIGINT, 3)])
    assert not isinstance(stop.value, Interrupted)


def test_in_a_thread(tmp_path):
    found = []
    thread = threading.Thread(target=lambda: found.append(run(tmp_path / "c")))
    thread.start()
    thread.join()
    assert_same(found[0], run())


# -- damage -------------------------------------------------------------------------------------------


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


DAMAGE = {
    "flipped bit": (lambda folder: flip(folder / "z.npy"), "z.npy is damaged or cut short"),
    "cut short": (lambda folder: os.truncate(folder / "eta.npy", 90), "eta.npy is damaged or cut short"),
    "gone": (lambda folder: (folder / "trace.npy").unlink(), "trace.npy is missing"),
    "manifest": (lambda folder: flip(folder / "manifest.json"), "manifest.json is damaged"),
    "manifest cut": (lambda folder: os.truncate(folder / "manifest.json", 40), "manifest.json is damaged"),
    "no manifest": (lambda folder: (folder / "manifest.json").unlink(), "has no manifest.json"),
    "empty": (lambda folder: (shutil.rmtree(folder), folder.mkdir()), "has no manifest.json"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_checkpoint_is_done_without(damage, tmp_path, caplog):
    harm, said = DAMAGE[damage]
    broken_off(tmp_path / "c", 15)
    harm(tmp_path / "c" / "000003-sweep-12")
    broken_off(tmp_path / "c", 17, resume=True)
    assert said in caplog.text and "000003-sweep-12" in caplog.text
    assert "the checkpoint before, of sweep 8, is used" in caplog.text
    # the damaged one has gone, and not instead of a whole one
    assert [Path(n).name.partition("-")[2] for n in names(tmp_path / "c")] == ["sweep-12", "sweep-16"]
    assert_same(run(tmp_path / "c", resume=True), run())


def test_where_all_are_damaged_each_is_named(tmp_path):
    broken_off(tmp_path / "c", 15)
    flip(tmp_path / "c" / "000003-sweep-12" / "z.npy")
    flip(tmp_path / "c" / "000002-sweep-8" / "eta.npy")
    with pytest.raises(StorageError, match=r"no checkpoint can be read: .*sweep-12.*sweep-8") as error:
        run(tmp_path / "c", resume=True)
    assert "z.npy" in str(error.value)
    assert len(names(tmp_path / "c")) == 2  # nothing is thrown away


def test_another_fit_is_refused_by_name(tmp_path):
    run(tmp_path / "c", 8)
    for options, said in [
        ({"seed": 1}, "seed was 0, and is 1"),
        ({"thin": 2}, "thin was 5, and is 2"),
        ({"burn_in": 1}, "burn_in was null, and is 1"),
        ({"kernel": "dense"}, "kernel was LightPCLDA"),
        ({"supervised": "two_step"}, "supervised was joint, and is two_step"),
        ({"init": "random"}, "start.method was auto, and is random"),
        ({"corpus": CORPUS.take(np.arange(80))}, "another corpus"),
        ({"covariates": Covariates(numeric=["year"])}, "covariates was null"),
    ]:
        with pytest.raises(StorageError, match=said):
            run(tmp_path / "c", 12, resume=True, **options)
    assert_same(run(tmp_path / "c", 8, resume=True), run(None, 8))


def test_what_a_killed_writer_left_is_taken_away(tmp_path):
    broken_off(tmp_path / "c", 9)
    half = tmp_path / "c" / ".000003-sweep-12-abc"
    half.mkdir()
    (half / "z.npy").write_bytes(b"half")
    (tmp_path / "c" / "notes").mkdir()
    run(tmp_path / "c", resume=True)
    assert names(tmp_path / "c") == ["000005-sweep-20", "notes"]


# -- disks --------------------------------------------------------------------------------------------


def test_a_checkpoint_that_cannot_be_written_does_not_end_the_run(tmp_path, monkeypatch, caplog):
    from plugsamp.checkpoint import generations

    write, full = generations.write_folder, {"yes": False}

    def limited(*arguments):
        if full["yes"]:
            raise OSError(28, "No space left on device")
        return write(*arguments)

    def observe(row):
        full["yes"] = 6 <= row["sweep"] < 15

    monkeypatch.setattr(generations, "write_folder", limited)
    result = run(tmp_path / "c", observers=[observe])
    assert_same(result, run())
    said = [r.getMessage() for r in caplog.records]
    assert [m for m in said if "No space left" in m] == [
        f"sweep 8: no checkpoint could be written in {tmp_path / 'c'} (No space left on device); that of "
        "sweep 4 stands, and the run goes on"
    ]
    assert "sweep 16: checkpoints can be written again" in said


def test_a_signal_on_a_full_disk_says_what_stands(tmp_path, monkeypatch):
    from plugsamp.checkpoint import generations

    write = generations.write_folder

    def limited(path, *arguments):
        if not path.name.endswith("sweep-4"):
            raise OSError(28, "No space left on device")
        return write(path, *arguments)

    monkeypatch.setattr(generations, "write_folder", limited)
    with pytest.raises(Interrupted, match=r"\(No space left.*the last, of sweep 4, stands"):
        run(tmp_path / "c", observers=[send(signal.SIGINT, 6)])
    monkeypatch.undo()
    assert_same(run(tmp_path / "c", resume=True), run())


LIMITED = """
import logging, resource, sys
sys.path.insert(0, sys.argv[2])
logging.basicConfig(stream=sys.stdout, format="%(message)s")
import test_checkpoint_fits as t
def observe(row):
    if row["sweep"] == 6:
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, resource.RLIM_INFINITY))
t.run(sys.argv[1], observers=[observe])
"""


def test_a_file_that_may_not_grow_leaves_no_half(tmp_path):
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "c"), str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("File too large") == 1 and "that of sweep 4 stands" in done.stdout
    assert names(tmp_path / "c") == ["000001-sweep-4"]
    assert_same(run(tmp_path / "c", resume=True), run())


# -- one at a time ------------------------------------------------------------------------------------


def test_one_fit_at_a_time(tmp_path):
    def second(row):
        with pytest.raises(Locked, match="being written by another fit of this process"):
            run(tmp_path / "c", resume=True)

    run(tmp_path / "c", 2, observers=[second])
    assert not (tmp_path / "c" / ".lock").exists()


def test_two_threads_do_not_take_a_lock_at_once(tmp_path, monkeypatch):
    make = Lock._locked_file

    def meanwhile(lock):
        monkeypatch.undo()
        with pytest.raises(Locked, match="another fit of this process"), Lock(tmp_path):
            pass
        return make(lock)

    monkeypatch.setattr(Lock, "_locked_file", meanwhile)
    with Lock(tmp_path):
        assert (tmp_path / ".lock").exists()
    with Lock(tmp_path):
        pass


HOLDER = """
import sys, time
from plugsamp.checkpoint.lock import Lock
with Lock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_dies_with_its_holder(tmp_path):
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(Locked, match=f"being written by process {holder.pid} of "), Lock(tmp_path):
            pass
        holder.kill()
        holder.wait()
        with Lock(tmp_path):
            pass
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    assert names(tmp_path) == []


# -- numbers that are none ----------------------------------------------------------------------------


class Failing(Hinge):
    """A hinge whose kappa is NaN from some draw on."""

    calls = 0

    def augment(self, f, y, rng, weight=None):
        kappa, omega = super().augment(f, y, rng, weight)
        type(self).calls += 1
        if type(self).calls > 9:
            kappa[4, 1] = np.nan
        return kappa, omega


def test_a_nan_ends_the_run_and_keeps_the_last_checkpoint(tmp_path, caplog):
    Failing.calls = 0
    with pytest.raises(NonFinite, match=r"sweep 10: kappa of document 4, output 1 is nan"):
        run(tmp_path / "c", model=MODEL | {"loss": Failing()}, init="random")
    assert names(tmp_path / "c") == ["000001-sweep-4", "000002-sweep-8"]
    assert "the last checkpoint, of sweep 8, stands" in caplog.text


# -- separate chains ----------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme, n_jobs", [("ovr", 1), ("ovo", 2)])
def test_separate_chains_that_are_done_are_not_sampled_again(scheme, n_jobs, tmp_path):
    whole = run(multiclass=scheme, sweeps=8)
    run(tmp_path / "c", 8, 3, multiclass=scheme, n_jobs=n_jobs)
    assert names(tmp_path / "c") == ["model-0000", "model-0001", "model-0002"]
    shutil.rmtree(tmp_path / "c" / "model-0002")  # as if the second had just been done
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "c" / "model-0001").iterdir()}
    again = run(tmp_path / "c", 8, 3, multiclass=scheme, resume=True)
    assert again.predictor.digest == whole.predictor.digest
    assert timeless(again.trace) == timeless(whole.trace)
    assert times == {path: path.stat().st_mtime_ns for path in (tmp_path / "c" / "model-0001").iterdir()}
    run(tmp_path / "d", 8, multiclass=scheme, keep=False)
    assert names(tmp_path / "d") == []


def test_a_signal_among_separate_chains(tmp_path, monkeypatch):
    from plugsamp import running

    trace_row, rows = running.trace_row, []

    def counted(*arguments):
        rows.append(trace_row(*arguments))
        if len(rows) == 11:  # the third sweep of the second chain
            os.kill(os.getpid(), signal.SIGTERM)
        return rows[-1]

    monkeypatch.setattr(running, "trace_row", counted)
    with pytest.raises(Interrupted, match="after 3 of 8 sweeps"):
        run(tmp_path / "c", 8, multiclass="ovr")
    assert names(tmp_path / "c") == ["model-0000", "model-0001"]
    again = run(tmp_path / "c", 8, multiclass="ovr", resume=True)
    assert len(rows) == 11 + 5 + 8
    assert again.predictor.digest == run(None, 8, multiclass="ovr").predictor.digest


# -- elsewhere ----------------------------------------------------------------------------------------


def in_turn(folder, counts, **options):
    """A fit that goes on with another number of workers every few sweeps (0: in this process)."""
    for i, workers in enumerate(counts):
        backend = Processes(workers=workers) if workers else None
        options |= {"resume": i > 0, "backend": backend}
        if i == len(counts) - 1:
            return run(folder, every=2, **options)
        broken_off(folder, 3 * (i + 1), every=2, **options)


def test_a_fit_that_moves_is_one_that_did_not(tmp_path):
    options = KINDS["horseshoe and learnt priors"]
    assert_same(in_turn(tmp_path / "c", [2, 0, 7, 1, 3, 0], **options), run(**options))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["light_pc", "sparse_pc", "dense"])
@pytest.mark.parametrize("kind", ["partial, warm start", "spike and slab", "covariates", "a variance"])
@pytest.mark.parametrize("first, then", [(a, b) for a in (0, 1, 2, 3, 7) for b in (0, 1, 2, 3, 7) if a != b])
def test_from_any_number_of_workers_to_any(first, then, kind, kernel, tmp_path):
    if kernel == "dense":
        kernel = Dense("partial")
    options = KINDS[kind] | {"kernel": kernel}
    assert_same(in_turn(tmp_path / "c", [first, then], **options), run(**options))
