"""What is said of a sweep."""

from __future__ import annotations

from plugsamp.commands.run_fit import _numbers
from plugsamp.progress import Progress


def test_nothing_has_no_sign():
    said = Progress(1, 1, terminal=False).describe({"log_joint": -3.0, "loss": -0.0})
    assert said.endswith("log joint -3  loss 0")
    assert _numbers({"r2": -0.0001, "n_scored": 3}) == "r2 0.000, 3 scored"
