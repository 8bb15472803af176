"""Independent normal prior on the weights."""

from __future__ import annotations

import numpy as np

from plugsamp.priors.base import WeightPrior

#: Weights are kept in single precision for the token kernels, and precisions must be finite.
SMALLEST, LARGEST = 1e-30, 1e30


class Normal(WeightPrior):
    """eta_cj ~ N(0, variance); the intercept has a variance of its own.

    Parameters
    ----------
    variance : float
        Of every weight but the intercept; smaller keeps weights small (paper 000's nu is 1/variance).
    intercept_variance : float
    """

    def __init__(self, variance: float = 1.0, intercept_variance: float = 100.0):
        for name, value in (("variance", variance), ("intercept_variance", intercept_variance)):
            if not SMALLEST <= value <= LARGEST:
                limits = "above 0" if not value > 0 else f"from {SMALLEST:g} to {LARGEST:g}"
                raise ValueError(f"normal: {name} must be a number {limits}, not {value!r}")
        self.variance = float(variance)
        self.intercept_variance = float(intercept_variance)

    def precision(self, state, c, shrunk):
        return np.where(shrunk, 1.0 / self.variance, 1.0 / self.intercept_variance)

    def log_density(self, state, eta, shrunk):
        precision = self.precision(state, 0, shrunk)
        constants = eta.shape[0] * np.log(precision / (2 * np.pi)).sum()
        return float(0.5 * (constants - (eta**2 @ precision).sum()))
