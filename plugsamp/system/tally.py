"""How often each small number occurs, without copies of the numbers."""

from __future__ import annotations

import numpy as np

#: Numbers that are counted at once: `numpy.bincount` makes 8 bytes of each.
PIECE = 1 << 20


def tally(values: np.ndarray, size: int) -> np.ndarray:
    """Occurrences of 0 to size-1 among `values`, all of them below `size`; int64 (size,)."""
    found = np.zeros(size, np.int64)
    for first in range(0, len(values), PIECE):
        found += np.bincount(values[first : first + PIECE], minlength=size)
    return found
