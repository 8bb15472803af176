"""tools/horseshoe_study.py: the small run finds the signal."""

from __future__ import annotations

import csv
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "horseshoe_study.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("horseshoe_study", TOOL)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_the_smoke_finds_the_signal_with_the_horseshoe_only(tool, tmp_path):
    assert tool.main([str(tmp_path / "out"), "--smoke", "--no-plot"]) in (None, 0)
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["horseshoe_study.csv"]
    with open(tmp_path / "out" / "horseshoe_study.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    true, mean = (np.array([float(row[k]) for row in rows]) for k in ("true", "mean"))
    for prior in ("normal", "horseshoe"):
        mine = np.array([row["prior"] == prior for row in rows])
        signal, size = true[mine] != 0, np.abs(mean[mine])
        assert (np.sign(mean[mine]) == np.sign(true[mine]))[signal].all()
        assert size[signal].min() > size[~signal].max()
        if prior == "normal":
            ordinary = np.median(size[~signal])
        else:
            assert np.median(size[~signal]) < 0.5 * ordinary
            assert (size[~signal] < 0.1 * size.max()).all()
            assert np.abs(mean[mine] - true[mine])[signal].max() < 1.5


def test_without_matplotlib_it_says_what_is_missing_before_it_starts(tool, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(tool, "find_spec", lambda name: None)
    assert tool.main([str(tmp_path / "out")]) == 2
    assert "pip install 'plugsamp[plots]'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_picture(tool, tmp_path):
    pytest.importorskip("matplotlib")
    size = tool.Size(documents=30, length=20, topics=6, words=40, sweeps=6)
    tool.draw(tool.study(size, 0), tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5000
