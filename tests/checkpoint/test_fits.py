"""Fits with checkpoints: one that was stopped goes on as if nothing had been."""

from __future__ import annotations

import inspect
import os
import shutil
import signal
import time

import pytest

from plugsamp.backends import Processes
from plugsamp.chain import Chain
from plugsamp.checkpoint.generations import Generations
from plugsamp.checkpoint.options import Checkpoints
from plugsamp.errors import Interrupted
from plugsamp.files.storage import StorageError
from plugsamp.fitting.fit import fit
from plugsamp.fitting.second_step import SecondStep
from plugsamp.fitting.starts import Start
from plugsamp.kernels import Dense
from plugsamp.model import Model
from plugsamp.posterior.saved import save_model

from .checkpointed import CORPUS, KINDS, MODEL, assert_same, broken_off, names, run, timeless


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


STARTS = {
    "supervised": {},
    "horseshoe and learnt priors": KINDS["horseshoe and learnt priors"],
    "spike and slab": KINDS["spike and slab"],
    "two steps": KINDS["two steps"],
    "a variance": KINDS["a variance"],
    "no responses, groups": {"model": MODEL | {"loss": "none"}, "init": Start("collapsed", 5, groups=2)},
    "a full kernel": {"kernel": "dense", "init": Start("collapsed", 5)},
}


@pytest.mark.parametrize("kind", STARTS)
def test_a_fit_that_was_stopped_in_its_start_is_one_that_was_not(kind, tmp_path, monkeypatch):
    options = STARTS[kind] | {"sweeps": 8}
    whole = run(**options)
    for sweep in (1, 3, 4, 5):  # one after the other, each goes on from the one before
        said = rf"after sweep {sweep} of the start; the checkpoint .* holds it all"
        with monkeypatch.context() as patch, pytest.raises(Interrupted, match=said):
            interrupt_start(patch, sweep)
            run(tmp_path / "c", resume=True, **options)
        assert names(tmp_path / "c")[-1].endswith("-sweep-0")
    assert_same(run(tmp_path / "c", resume=True, **options), whole)


def interrupt_start(monkeypatch, sweep) -> None:
    """Send SIGINT in a sweep of the collapsed start."""
    draw = Chain._draw_weights

    def counted(chain, number):
        if number == sweep and Chain._draw_weights is counted and starting():
            os.kill(os.getpid(), signal.SIGINT)
        return draw(chain, number)

    def starting():
        return any(frame.function == "warm" for frame in inspect.stack(0))

    monkeypatch.setattr(Chain, "_draw_weights", counted)


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
    save_model(tmp_path / "model", first)
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


# -- more sweeps, or fewer -----------------------------------------------------------------------------


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
    assert len(result.eta) == 3 + 2  # and 12, 15


def test_a_run_can_be_ended_where_it_stands(tmp_path):
    broken_off(tmp_path / "c", 9)
    result = run(tmp_path / "c", 8, resume=True)
    assert result.n_sweeps == 8 and len(result.eta) == 1
    with pytest.raises(ValueError, match="has done 8 sweeps already"):
        run(tmp_path / "c", 7, resume=True)


# -- separate chains -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme, n_jobs", [("ovr", 1), ("ovo", 2)])
def test_separate_chains_that_are_done_are_not_sampled_again(scheme, n_jobs, tmp_path):
    whole = run(multiclass=scheme, sweeps=8)
    run(tmp_path / "c", 8, 3, multiclass=scheme, n_jobs=n_jobs)
    assert names(tmp_path / "c") == ["model-0000", "model-0001", "model-0002"]
    shutil.rmtree(tmp_path / "c" / "model-0002")  # as if the second had just been done
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "c" / "model-0001").iterdir()}
    again = run(tmp_path / "c", 8, 3, multiclass=scheme, resume=True)
    assert again.digest == whole.digest
    assert timeless(again.trace) == timeless(whole.trace)
    assert times == {path: path.stat().st_mtime_ns for path in (tmp_path / "c" / "model-0001").iterdir()}
    run(tmp_path / "d", 8, multiclass=scheme, keep=False)
    assert names(tmp_path / "d") == []


def test_a_signal_among_separate_chains(tmp_path, monkeypatch):
    from plugsamp.fitting import running

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
    assert again.digest == run(None, 8, multiclass="ovr").digest


# -- elsewhere -----------------------------------------------------------------------------------------


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


NUMBERS = [(a, b) for a in (0, 1, 2, 3, 7) for b in (0, 1, 2, 3, 7) if a != b]
MOVED = ["partial, warm start", "spike and slab", "covariates", "a variance"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind, kernel, first, then",
    [
        (kind, ("light_pc", "sparse_pc", "dense")[(i + j) % 3], *numbers)
        for i, kind in enumerate(MOVED)
        for j, numbers in enumerate(NUMBERS)
    ],
)
def test_from_any_number_of_workers_to_any(first, then, kind, kernel, tmp_path):
    if kernel == "dense":
        kernel = Dense("partial")
    options = KINDS[kind] | {"kernel": kernel}
    assert_same(in_turn(tmp_path / "c", [first, then], **options), run(**options))
