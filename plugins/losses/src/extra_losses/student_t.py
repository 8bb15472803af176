"""Robust regression: Student's t."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import gammaln, stdtr

from plugsamp.losses import Loss
from plugsamp.losses.coding import code_real


class StudentT(Loss):
    """y = f + scale * t with `df` degrees of freedom: outliers pull less than with the Gaussian loss.

    Given the deviation, a document's precision lambda is gamma with shape (df + 1)/2 and rate
    (df + ((y - f)/scale)^2)/2; then y is normal with variance scale^2/lambda.

    Parameters
    ----------
    df : float
        Degrees of freedom; the smaller, the heavier the tails.
    scale : float or "sample"
        One number, or one an output, whose square has an inverse-gamma prior.
    shape, rate : float
        Of that prior.
    """

    calibrated = True
    testing: ClassVar[dict] = {
        "variants": [{"df": 4.0, "scale": 0.8}, {"df": 4.0, "scale": "sample", "shape": 3.0, "rate": 2.0}]
    }

    def __init__(self, df: float = 4.0, scale: float | str = "sample", shape: float = 1.0, rate: float = 1.0):
        if not 0.1 <= df <= 1e6:
            raise ValueError(f"student_t: df must be a number from 0.1 to 1e6, not {df!r}")
        if scale != "sample" and (isinstance(scale, str) or not 1e-15 <= scale <= 1e15):
            raise ValueError(f'student_t: scale must be a number above 0 or "sample", not {scale!r}')
        for name, value in (("shape", shape), ("rate", rate)):
            if not 1e-15 <= value <= 1e15:
                raise ValueError(f"student_t: {name} must be a number above 0, not {value!r}")
        self.df, self.scale, self.shape, self.rate = float(df), scale, float(shape), float(rate)

    def code(self, responses, names=None):
        return code_real(responses, names)

    def augment(self, f, y, rng, parameters=None, weight=None):
        omega = self._precision(f, y, parameters, rng) / self._scale(parameters) ** 2
        return omega * y, omega

    def log_psi(self, y, f, parameters=None):
        scale, df = self._scale(parameters), self.df
        constant = gammaln(0.5 * (df + 1.0)) - gammaln(0.5 * df) - 0.5 * np.log(np.pi * df)
        return constant - np.log(scale) - 0.5 * (df + 1.0) * np.log1p(((y - f) / scale) ** 2 / df)

    # -- the scale, where it is drawn

    def start(self, n_outputs):
        return {"scale": np.ones(n_outputs)} if self.scale == "sample" else {}

    def simulate_parameters(self, n_outputs, rng):
        drawn = np.sqrt(self.rate / rng.standard_gamma(self.shape, n_outputs))
        return {"scale": drawn} if self.scale == "sample" else {}

    def statistics(self, f, y, weight, parameters, rng):
        squares = self._precision(f, y, parameters, rng) * (y - f) ** 2
        return np.array([weight.sum(axis=0), (weight * squares).sum(axis=0)])

    def update(self, parameters, total, rng):
        n, squares = total
        drawn = np.sqrt((self.rate + 0.5 * squares) / rng.standard_gamma(self.shape + 0.5 * n))
        parameters["scale"][:] = np.clip(drawn, 1e-15, 1e15)

    def _scale(self, parameters):
        return self.scale if parameters is None else parameters["scale"]

    def _precision(self, f, y, parameters, rng):
        rate = 0.5 * (self.df + ((y - f) / self._scale(parameters)) ** 2)
        return rng.standard_gamma(0.5 * (self.df + 1.0), np.shape(f)) / rate

    # -- for prediction and for the tests

    def cdf(self, y, f, parameters=None):
        return stdtr(self.df, (y - f) / self._scale(parameters))

    def simulate(self, f, rng, parameters=None):
        return f + self._scale(parameters) * rng.standard_t(self.df, np.shape(f))
