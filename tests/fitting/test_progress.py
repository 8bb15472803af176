"""What is said of a sweep."""

from __future__ import annotations

from types import SimpleNamespace

from plugsamp.fitting.progress import Progress
from plugsamp.posterior.summary import speed_line
from plugsamp.posterior.tabulate import outcome_lines


def test_nothing_has_no_sign():
    said = Progress(1, 1, terminal=False).describe({"log_joint": -3.0, "loss": -0.0})
    assert said.endswith("log joint -3  loss 0")
    measured = SimpleNamespace(measures={"r2": -0.0001, "n_scored": 3})
    assert outcome_lines({"test": measured}) == ["test  r2 0.000, 3 scored"]


def test_the_time_of_the_start_is_told_apart_from_the_sweeps():
    fitted = SimpleNamespace(trace=[0], n_sweeps=9, sweep_seconds=20.0, seconds=75.0, tokens_per_second=2e6)
    assert speed_line(fitted) == "9 sweeps in 20s, 2.0M tok/s; with the start 1m15s"
    fitted.seconds = 20.2
    assert speed_line(fitted) == "9 sweeps in 20s, 2.0M tok/s"
