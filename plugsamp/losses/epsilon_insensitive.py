"""Epsilon-insensitive loss: support vector regression on topics (Zheng et al. 2015, section 4.2)."""

from __future__ import annotations

import numpy as np

from plugsamp.checks import is_number
from plugsamp.losses.base import Loss
from plugsamp.losses.coding import Coding, code_real
from plugsamp.random.draws import inverse_gaussian

#: Of cost and epsilon: squares and products of theirs stay finite.
SMALLEST, LARGEST = 1e-30, 1e30


class EpsilonInsensitive(Loss):
    """psi(y|f) = exp(-2 cost max(0, |y - f| - epsilon)), for real responses.

    Parameters
    ----------
    cost : float
        lambda, the regularisation of the loss against the prior; larger fits the responses harder.
    epsilon : float
        Errors up to this cost nothing.

    Notes
    -----
    Its integral over y, 2 epsilon + 1/cost, is free of f, so psi is a likelihood: flat within epsilon of
    f, with tails as Laplace's. Its scale is fixed by the cost: intervals are as right as the cost is.
    Both are in the units of the responses, or in standard deviations where the model standardises.
    """

    references = ("zhu2014", "polson2011")

    calibrated = True
    weighted = True

    def __init__(self, cost: float = 1.0, epsilon: float = 1e-3):
        if not (is_number(cost) and SMALLEST <= cost <= LARGEST):
            raise ValueError(
                f"epsilon_insensitive: cost must be a number above 0 (to {LARGEST:g}), not {cost!r}"
            )
        if not (is_number(epsilon) and 0 <= epsilon <= LARGEST):
            raise ValueError(
                f"epsilon_insensitive: epsilon must be 0 or a number above it (to {LARGEST:g}), "
                f"not {epsilon!r}"
            )
        self.cost = float(cost)
        self.epsilon = float(epsilon)

    def code(self, responses, names=None) -> Coding:
        return code_real(responses, names)

    def augment(self, f, y, rng, weight=None):
        # 2 max(0, |d| - epsilon) = |d - epsilon| + |d + epsilon| - 2 epsilon, d = y - f: two absolute values,
        # each a scale mixture with xi ~ IG(1/(cost |.|), 1). The sampler takes the reciprocal mean.
        cost = self.cost if weight is None else self.cost * weight
        low, high = y - self.epsilon, y + self.epsilon
        below = cost * cost * inverse_gaussian(cost * np.abs(low - f), rng)
        above = cost * cost * inverse_gaussian(cost * np.abs(high - f), rng)
        return below * low + above * high, below + above

    def log_psi(self, y, f):
        loss = 2.0 * self.cost * np.maximum(0.0, np.abs(y - f) - self.epsilon)
        return -loss - np.log(self._total)

    def cdf(self, y, f):
        d, tail = y - f, 0.5 / (self.cost * self._total)
        inside = np.clip(d, -self.epsilon, self.epsilon)
        outside = tail * np.exp(-2.0 * self.cost * np.abs(d - inside))
        middle = tail + (inside + self.epsilon) / self._total
        return np.where(d < inside, outside, np.where(d > inside, 1.0 - outside, middle))

    def simulate(self, f, rng):
        # A sign, and a distance that is uniform up to epsilon, or beyond it by an exponential.
        shape = np.shape(f)
        distance = np.where(
            rng.random(shape) * self._total < 2.0 * self.epsilon,
            self.epsilon * rng.random(shape),
            self.epsilon + rng.standard_exponential(shape) / (2.0 * self.cost),
        )
        return f + np.where(rng.random(shape) < 0.5, -distance, distance)

    @property
    def _total(self) -> float:
        """The integral of psi over y."""
        return 2.0 * self.epsilon + 1.0 / self.cost
