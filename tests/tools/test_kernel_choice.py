"""tools/kernel_choice.py: the race that kernel=auto goes by."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

if not (ROOT / "tools" / "kernel_choice.py").exists():
    pytest.skip("the tools are not beside the tests", allow_module_level=True)

sys.path.insert(0, str(ROOT))
from tools import kernel_choice  # noqa: E402

sys.path[:] = [p for p in sys.path if p != str(ROOT)]  # the tool may have put it there too


def racer(*curve):
    """One that has run, without a chain."""
    made = kernel_choice.Racer.__new__(kernel_choice.Racer)
    made.curve, made.seconds = list(curve), curve[-1][0]
    return made


def test_times_to_a_level_are_interpolated_and_held_against_dense():
    racers = {
        "dense": racer((1.0, -30.0), (2.0, -20.0), (3.0, -10.0)),
        "quick": racer((0.5, -25.0), (1.0, -15.0), (1.5, -14.0), (3.0, -13.0)),
        "never": racer((1.0, -40.0), (3.0, -39.0)),
    }
    rows = {row["kernel"]: row for row in kernel_choice.outcome(racers, 10, 3.0)}
    # after half of the time "quick" is at -14, where dense is at 2.6 seconds
    assert rows["dense"]["of_dense"] == 1.0 and rows["never"]["of_dense"] == float("inf")
    assert rows["quick"]["of_dense"] == pytest.approx(1.5 / 2.6)
    assert rows["quick"]["ns_token"] == pytest.approx(0.5e9 / 10) and rows["quick"]["sweeps"] == 4


def test_it_runs(tmp_path, monkeypatch, capsys):
    out = tmp_path / "race.csv"
    monkeypatch.setattr(sys, "argv", ["kernel_choice.py", "--smoke", "--csv", str(out)])
    kernel_choice.main()
    with open(out, newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["collapse"] for row in rows} == {"full", "partial"}
    assert {row["outputs"] for row in rows} == {"0", "2"} and all(float(row["ns_token"]) > 0 for row in rows)
    assert len(capsys.readouterr().out.splitlines()) == 5  # a header, and a line a cell
