"""Mean and standard deviation as units, whatever the size of the numbers."""

from __future__ import annotations

import numpy as np


def mean_and_deviation(values) -> tuple[float, float]:
    """The mean and the standard deviation of one number or more, (n,); a deviation of 1 of equal ones.

    Equal numbers are told by comparing them: their computed deviation need not be 0, and dividing by it
    would make responses of rounding errors. Numbers are scaled first, so that no square over- or
    underflows.
    """
    values = np.asarray(values, dtype=float)
    low, high = float(values.min()), float(values.max())
    if low == high:
        return low, 1.0
    size = max(abs(low), abs(high))
    scaled = values / size
    deviation = float(scaled.std()) * size
    return float(scaled.mean()) * size, deviation if deviation > 0 else 1.0
