"""What is said of a sweep."""

from __future__ import annotations

from types import SimpleNamespace

from plugsamp.commands.run_fit import _numbers, outcome
from plugsamp.fitting.progress import Progress


def test_nothing_has_no_sign():
    said = Progress(1, 1, terminal=False).describe({"log_joint": -3.0, "loss": -0.0})
    assert said.endswith("log joint -3  loss 0")
    assert _numbers({"r2": -0.0001, "n_scored": 3}) == "r2 0.000, 3 scored"


def test_the_time_of_the_start_is_told_apart_from_the_sweeps():
    fitted = SimpleNamespace(n_sweeps=9, sweep_seconds=20.0, seconds=75.0, tokens_per_second=2e6)
    assert outcome(fitted, None, None, {}) == ["9 sweeps in 20s, 2.0M tok/s; with the start 1m15s"]
    fitted.seconds = 20.2
    assert outcome(fitted, None, None, {}) == ["9 sweeps in 20s, 2.0M tok/s"]
