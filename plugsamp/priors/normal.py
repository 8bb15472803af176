"""Independent normal prior on the weights."""

from __future__ import annotations

import numpy as np

from plugsamp.priors.base import WeightPrior


class Normal(WeightPrior):
    """eta_cj ~ N(0, variance); the intercept has a variance of its own.

    Parameters
    ----------
    variance : float
        Of every weight but the intercept (paper 000's nu is 1/variance).
    intercept_variance : float
    """

    def __init__(self, variance: float = 1.0, intercept_variance: float = 100.0):
        for name, value in (("variance", variance), ("intercept_variance", intercept_variance)):
            if not (np.isfinite(value) and value > 0):
                raise ValueError(f"normal: {name} must be a number above 0, not {value!r}")
        self.variance = float(variance)
        self.intercept_variance = float(intercept_variance)

    def precision(self, state, c, shrunk):
        return np.where(shrunk, 1.0 / self.variance, 1.0 / self.intercept_variance)

    def log_density(self, state, eta, shrunk):
        precision = self.precision(state, 0, shrunk)
        constants = eta.shape[0] * np.log(precision / (2 * np.pi)).sum()
        return float(0.5 * (constants - (eta**2 @ precision).sum()))
