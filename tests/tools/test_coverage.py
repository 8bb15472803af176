"""tools/coverage.py: intervals cover as many responses as they say, on documents simulated from the model."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

ROOT = Path(__file__).resolve().parents[2]

if not (ROOT / "tools" / "coverage.py").exists():
    pytest.skip("the tools are not beside the tests", allow_module_level=True)

sys.path.insert(0, str(ROOT))
from tools.coverage import LENGTHS, covered  # noqa: E402

sys.path.remove(str(ROOT))

#: Standard deviation of a fitted model's coverage: its parameters are known from 1,000 documents or more.
BETWEEN = 0.008


def test_intervals_cover_what_they_say(chance):
    def p_value(seed, scale):
        n, n_seeds = 400, scale
        found = [covered(seed + s, 0.9, n, n_train=1000, sweeps=60) for s in range(n_seeds)]
        mean = np.array([np.mean([one[length] for one in found]) for length in LENGTHS])
        z = (mean - 0.9) / np.sqrt((0.09 / n + BETWEEN**2) / n_seeds)
        return stats.chi2.sf((z**2).sum(), len(z))

    chance.holds(p_value)


@pytest.mark.slow
def test_intervals_of_any_length_cover_88_to_92_percent():
    found = [covered(seed, 0.9, 4000) for seed in range(3)]
    for length in LENGTHS:
        assert 0.88 <= np.mean([one[length] for one in found]) <= 0.92, length
