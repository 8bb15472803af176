"""Fits with checkpoints: signals, damage, full disks, locks and numbers that are none."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from plugsamp.covariates.options import Covariates
from plugsamp.errors import Interrupted, NonFinite
from plugsamp.files.lock import Lock, Locked
from plugsamp.files.storage import StorageError
from plugsamp.losses.hinge import Hinge

from .checkpointed import CORPUS, MODEL, assert_same, broken_off, names, run, send

# -- signals -------------------------------------------------------------------------------------------


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
    monkeypatch.setattr("plugsamp.fitting.fit.Recording", lambda *a, **k: os.kill(os.getpid(), signal.SIGINT))
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


# -- damage --------------------------------------------------------------------------------------------


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
        ({"kernel": "dense"}, "kernel was light_pc"),
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


# -- disks ---------------------------------------------------------------------------------------------


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
import checkpointed as t
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


# -- one at a time -------------------------------------------------------------------------------------


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
from plugsamp.files.lock import Lock
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


# -- numbers that are none -----------------------------------------------------------------------------


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
