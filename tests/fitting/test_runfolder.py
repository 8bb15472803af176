"""Trace, metrics and predictions as files."""

from __future__ import annotations

import csv
import json
import logging

import numpy as np
import pytest

from plugsamp.files.tables import Table
from plugsamp.files.whole import write_json
from plugsamp.fitting import progress
from plugsamp.fitting.progress import Progress, duration, quantity
from plugsamp.fitting.runfolder import TraceFile, holds_run


def refuse(name):
    raise AssertionError(f"{name} is not strict JSON")


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_a_row_of_the_trace_is_on_disk_at_once(tmp_path):
    with TraceFile(tmp_path / "trace.csv") as trace:
        trace({"sweep": 1, "seconds": 0.1, "loss": None})
        assert read(tmp_path / "trace.csv") == [["sweep", "seconds", "loss"], ["1", "0.1", ""]]
        trace({"sweep": 2, "seconds": 1 / 3, "loss": np.float64(2.0)})
    assert float(read(tmp_path / "trace.csv")[2][1]) == 1 / 3
    assert read(tmp_path / "trace.csv")[2][2] == "2.0"
    assert holds_run(tmp_path)


def test_any_text_comes_back_from_a_table(tmp_path):
    cells = ["a\rb", "c\nd", "e\r\nf", 'g"h', "i,j", "\x00.", "\u2028", " k "]
    Table({"id": cells, "n": np.zeros(8, int)}).to_csv(tmp_path / "t.csv")
    assert read(tmp_path / "t.csv") == [["id", "n"], *([c, "0"] for c in cells)]
    with TraceFile(tmp_path / "trace.csv") as trace:
        trace({"task": "a\rb", "sweep": 1})
    assert read(tmp_path / "trace.csv")[1] == ["a\rb", "1"]


def test_metrics_are_strict_json(tmp_path):
    content = {
        "a": np.float32(0.5),
        "n": np.int64(3),
        "ok": np.bool_(True),
        "test": {"r2": float("nan"), "list": [1.0, float("-inf")]},
        "none": None,
    }
    write_json(tmp_path / "m.json", content)
    back = json.loads((tmp_path / "m.json").read_text(), parse_constant=refuse)
    assert back["a"] == 0.5 and back["n"] == 3 and back["ok"] is True and back["none"] is None
    assert back["test"] == {"r2": None, "list": [1.0, None]}
    assert back["not_finite"] == ["test.r2 = nan", "test.list[1] = -inf"]


ROW = {"seconds": 0.5, "log_joint": -1234567.8, "loss": 0.25}


def test_lines_without_a_terminal(caplog):
    caplog.set_level(logging.INFO, logger=progress.__name__)
    with Progress(25, 1000, terminal=False) as shown:
        for _ in range(25):
            shown(ROW)
    lines = [r.getMessage() for r in caplog.records]
    assert [line.split()[1] for line in lines] == ["10/25", "20/25", "25/25"]
    assert "2.0k tok/s" in lines[0] and "log joint -1.23457e+06" in lines[0] and "loss 0.25" in lines[0]
    assert all(line.isprintable() for line in lines)


def test_slow_sweeps_get_a_line_each_ten_seconds(caplog, monkeypatch):
    caplog.set_level(logging.INFO, logger=progress.__name__)
    now = iter(np.arange(0, 1000, 4.0))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(now)))
    with Progress(9, 1000, terminal=False) as shown:
        for _ in range(9):
            shown({**ROW, "loss": None})
    lines = [r.getMessage() for r in caplog.records]
    assert [line.split()[1] for line in lines] == ["3/9", "6/9", "9/9"]
    assert "loss" not in lines[0]
    assert "24s left" in lines[0]


def test_a_bar_on_a_terminal(capsys):
    with Progress(2, 1000, terminal=True) as shown:
        shown(ROW)
        shown(ROW)
    assert shown.done == 2
    assert capsys.readouterr().out == ""  # results go there, and nothing else


@pytest.mark.parametrize("seconds, text", [(0.2, "0s"), (59.6, "1m00s"), (75, "1m15s"), (3700, "1h01m")])
def test_durations(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize("x, text", [(999, "999"), (4_500_000, "4.5M"), (2e9, "2.0G")])
def test_quantities(x, text):
    assert quantity(x) == text
