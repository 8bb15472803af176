"""Random kills, in short; `tools/random_kills.py` for long."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "random_kills.py"


@pytest.mark.slow
def test_killed_runs_end_clean_and_go_on_bit_equal():
    options = ["--kills", "2", "--sweeps", "12", "--documents", "150", "--seed", "3"]
    done = subprocess.run([sys.executable, str(TOOL), *options], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    kills, ended, equal, leaks = map(
        int,
        re.findall(r"(\d+) kills .*: (\d+) ended clean, (\d+) went on bit-equal, (\d+) leaks", done.stdout)[
            -1
        ],
    )
    assert kills == ended == equal >= 2 and leaks == 0
