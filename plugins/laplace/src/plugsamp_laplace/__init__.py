"""A weight prior for plugsamp: the Bayesian lasso."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from plugsamp.priors import WeightPrior
from plugsamp.random.draws import inverse_gaussian

#: Precisions are kept in this range, far outside of what is drawn but for weights of 0.
SMALLEST, LARGEST = 1e-30, 1e30


class Laplace(WeightPrior):
    """eta_cj ~ Laplace(scale), each weight on its own; the intercept is normal (Park and Casella 2008).

    A mixture of normals: eta ~ N(0, s) with s ~ Exp(mean 2 scale^2). Given eta the precision 1/s is inverse
    Gaussian with mean 1/(scale |eta|) and shape 1/scale^2.

    Parameters
    ----------
    scale : float
        E|eta|; smaller shrinks more.
    intercept_variance : float
        Of the intercept's weight.
    """

    testing: ClassVar[dict] = {"options": {"scale": 0.8, "intercept_variance": 1.5}}

    def __init__(self, scale: float = 1.0, intercept_variance: float = 100.0):
        for name, value in (("scale", scale), ("intercept_variance", intercept_variance)):
            if not 1e-12 <= value <= 1e12:
                raise ValueError(f"laplace: {name} must be a number from 1e-12 to 1e12, not {value!r}")
        self.scale, self.intercept_variance = float(scale), float(intercept_variance)

    def start(self, n_outputs, columns):
        return {"precision": np.full((n_outputs, columns.shrunk.sum()), 0.5 / self.scale**2)}

    def simulate(self, n_outputs, columns, rng):
        s = 2.0 * self.scale**2 * rng.standard_exponential((n_outputs, columns.shrunk.sum()))
        return {"precision": np.clip(1.0 / s, SMALLEST, LARGEST)}

    def precision(self, state, c, columns):
        precision = np.full(len(columns), 1.0 / self.intercept_variance)
        precision[columns.shrunk] = state["precision"][c]
        return precision

    def update(self, state, c, columns, eta, rng):
        # IG(mean, shape) is shape times IG(mean/shape, 1)
        drawn = inverse_gaussian(np.abs(eta[columns.shrunk]) / self.scale, rng) / self.scale**2
        state["precision"][c] = np.clip(drawn, SMALLEST, LARGEST)

    def log_density(self, state, eta, columns):
        precision = np.array([self.precision(state, c, columns) for c in range(len(eta))])
        log_p = 0.5 * (np.log(precision / (2.0 * np.pi)) - precision * eta**2).sum()
        p, rate = state["precision"], 0.5 / self.scale**2
        return float(log_p + (np.log(rate) - rate / p - 2.0 * np.log(p)).sum())
