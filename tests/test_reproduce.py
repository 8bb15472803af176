"""tools/reproduce: every study runs in its smallest form and writes its table and picture."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

if not (ROOT / "tools" / "reproduce").is_dir():
    pytest.skip("the tools are not beside the tests", allow_module_level=True)

sys.path.insert(0, str(ROOT))
from tools.reproduce import STUDIES  # noqa: E402
from tools.reproduce.__main__ import main  # noqa: E402

sys.path.remove(str(ROOT))


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_runs(name, tmp_path):
    assert main([name, "--smoke", "--out", str(tmp_path)]) == 0
    with open(tmp_path / f"{name}.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 2 and all(None not in row.values() and "" not in row.values() for row in rows)
    pytest.importorskip("matplotlib", reason="the extra 'plots' is not installed")
    assert (tmp_path / f"{name}.png").stat().st_size > 5_000


def test_names_are_listed_and_checked(tmp_path, capsys):
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in STUDIES)
    with pytest.raises(SystemExit):
        main(["nothing", "--out", str(tmp_path)])
    assert "no study 'nothing'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
