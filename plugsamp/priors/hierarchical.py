"""Hierarchical normal prior on the weights: their variances are drawn, and so learnt from the data."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from plugsamp.priors.base import WeightPrior, check_variances
from plugsamp.priors.half_cauchy import draw_global, half_square, log_half_cauchy, scale_of

#: Standard deviations are held in this range, so that precisions are within 1e-30 to 1e30.
SMALLEST_SD, LARGEST_SD = 1e-15, 1e15


class Hierarchical(WeightPrior):
    """eta_cj ~ N(0, sigma_cg^2), sigma_cg ~ C+(0, scale), with one sigma for topics and one for covariates.

    Gelman (2006). The intercept has a fixed variance.

    Parameters
    ----------
    scale : float
        Scale of the half-Cauchy prior of the standard deviations.
    shared : bool
        One standard deviation of topics and one of covariates for all outputs; by default each output has
        its own.
    intercept_variance : float
        Of the weight of the intercept.

    Notes
    -----
    A sweep draws sigma twice. First given the n weights of the group. With g = (scale/sigma)^2, p(g | eta) is
    proportional to g^((n-1)/2) exp(-R g) / (1 + g), R = sum eta^2 / (2 scale^2). It is drawn by rejection,
    as the global scale of the horseshoe is. Makalic and Schmidt (2016) draw it through an auxiliary
    inverse gamma variable, which moves less at a time.

    Then together with the weights: sigma and the weights of a group are multiplied by one t. By the change
    of variables (Liu and Sabatti 2000) the density of t is proportional to
    exp(b t - q t^2 / 2) / (1 + (t sigma / scale)^2), with b and q from the responses given all else. An
    exponential auxiliary variable of rate 1 + (sigma / scale)^2 makes it normal. Without this step sigma
    hardly moves where many weights have little data each (Yu and Meng 2011).
    """

    references = ("gelman2006", "makalic2016", "yu2011")
    testing: ClassVar = {"variants": [{"shared": False}, {"scale": 0.5, "shared": True}]}

    def __init__(self, scale: float = 1.0, shared: bool = False, intercept_variance: float = 100.0):
        check_variances("hierarchical", scale=scale, intercept_variance=intercept_variance)
        if not isinstance(shared, bool | np.bool_):
            raise ValueError(f"hierarchical: shared must be true or false, not {shared!r}")
        self.scale, self.shared = float(scale), bool(shared)
        self.intercept_variance = float(intercept_variance)

    def groups(self, columns):
        groups = {"topics": columns.topics, "covariates": columns.covariates}
        return {name: where for name, where in groups.items() if where.stop > where.start}

    def start(self, n_outputs, columns):
        return {name: np.full(n_outputs, _held(self.scale)) for name in self.groups(columns)}

    def simulate(self, n_outputs, columns, rng):
        n = 1 if self.shared else n_outputs
        state = self.start(n_outputs, columns)
        for values in state.values():
            values[:] = _held(self.scale * np.abs(rng.standard_cauchy(n)))
        return state

    def precision(self, state, c, columns):
        precision = np.full(len(columns), 1.0 / self.intercept_variance)
        for name, where in self.groups(columns).items():
            precision[where] = state[name][c] ** -2.0
        return precision

    def rescale(self, state, columns, eta, linear, quadratic, rng):
        if not len(eta):
            return
        factor = np.ones_like(linear)
        for g, (name, where) in enumerate(self.groups(columns).items()):
            sd = self._given_weights(eta[:, where], rng)
            others = factor.copy()
            others[:, g] = 0.0
            b = self._over_outputs(linear[:, g] - (quadratic[:, g] * others).sum(axis=1))
            q = self._over_outputs(quadratic[:, g, g])
            relative = (sd / self.scale) ** 2
            auxiliary = rng.standard_exponential(len(sd)) / (1.0 + relative)
            precision = q + 2.0 * auxiliary * relative
            t = b / precision + rng.standard_normal(len(sd)) / np.sqrt(precision)
            state[name][:] = _held(sd * np.abs(t))
            eta[:, where] *= t[:, None]
            factor[:, g] = t

    def _given_weights(self, eta, rng) -> np.ndarray:
        """Standard deviations (C,), or (1,) if shared, drawn given the weights (C, n) of a group."""
        total = self._over_outputs(half_square(np.abs(eta) / self.scale).sum(axis=1))
        n = eta.size if self.shared else eta.shape[1]
        g = np.array([draw_global(n, rate, rng) for rate in total])
        return _held(self.scale * scale_of(g))

    def _over_outputs(self, values) -> np.ndarray:
        return values.sum(keepdims=True) if self.shared else values

    def variances(self, state):
        return {name: values[: 1 if self.shared else None] ** 2 for name, values in state.items()}

    def log_density(self, state, eta, columns):
        value = self.log_normal(state, eta, columns)
        for values in state.values():
            value += log_half_cauchy(values[: 1 if self.shared else None], self.scale).sum()
        return float(value)


def _held(sd):
    return np.clip(sd, SMALLEST_SD, LARGEST_SD)
