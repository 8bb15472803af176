"""Which draws of the weights are kept whole, and the moments of the others.

With words as covariates a draw of the weights takes megabytes. Where all would take more than a budget, some
draws are kept whole, evenly spaced, and mean and variance of every weight are followed over all draws. In the
end the whole draws are shifted and scaled so that each weight has that mean and variance.
"""

from __future__ import annotations

import numpy as np

from plugsamp.checks import is_number

#: Bytes that the weights of all chains and binary models may take, and draws of each that are kept at least.
BUDGET, LEAST = 64 << 20, 16


def check_keep(keep) -> None:
    """Refuse a value of `keep_draws` that is none (ValueError)."""
    number = is_number(keep) and float(keep).is_integer() and keep >= 2
    if not (number or (isinstance(keep, str) and keep in ("auto", "all"))):
        raise ValueError(f"keep_draws must be auto, all or a whole number from 2 on, not {keep!r}")


def most_draws(keep, n_outputs: int, n_features: int, parts: int = 1) -> int | None:
    """Return how many draws are kept whole at most; None where all are.

    Parameters
    ----------
    keep : {"auto", "all"} or int
    n_outputs, n_features : int
        The shape of a draw.
    parts : int
        Chains or binary models that share the budget.
    """
    if keep == "all":
        return None
    if keep != "auto":
        return int(keep)
    return max(LEAST, BUDGET // max(8 * n_outputs * n_features * parts, 1))


def whole_sweeps(wanted: frozenset[int], most: int | None) -> frozenset[int]:
    """Return the sweeps whose draws are kept whole: every n-th of those wanted, counted from the last."""
    if most is None or len(wanted) <= most:
        return wanted
    return frozenset(sorted(wanted, reverse=True)[:: -(-len(wanted) // max(most, 1))])


class Moments:
    """Mean and variance of draws, one after another (Welford 1962).

    Attributes
    ----------
    n : int
    mean, squares : float64 arrays of the shape of a draw
        The mean, and the sum of squared deviations from it.
    """

    def __init__(self, shape):
        self.n, self.mean, self.squares = 0, np.zeros(shape), np.zeros(shape)

    def add(self, draw: np.ndarray) -> None:
        self.n += 1
        off = draw - self.mean
        self.mean += off / self.n
        off *= draw - self.mean
        self.squares += off

    def matched(self, draws: np.ndarray) -> np.ndarray:
        """Return draws (S, ...) with mean and variance of all: of each weight by itself.

        Correlations are those of the given draws. One draw alone becomes the mean.
        """
        own = Moments(self.mean.shape)
        for draw in draws:
            own.add(draw)
        factor = np.zeros_like(self.mean)
        if own.n > 1:
            share = (own.n - 1) / (self.n - 1)
            np.divide(self.squares * share, own.squares, out=factor, where=own.squares > 0)
            np.sqrt(factor, out=factor)
        out = draws - own.mean
        out *= factor
        out += self.mean
        return out
