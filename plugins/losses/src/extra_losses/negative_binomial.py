"""Counts: the negative binomial."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from scipy.special import betainc, expit, gammaln

from plugsamp.losses import Loss
from plugsamp.losses.coding import code_real
from plugsamp.random.polya_gamma import polya_gamma


class NegativeBinomial(Loss):
    """psi(y|f) = e^(y f) / (1 + e^f)^(y + r) for counts y; their mean is r e^f.

    A Polya-gamma mixture (Polson, Scott and Windle 2013): omega ~ PG(y + r, f), kappa = (y - r)/2.

    Parameters
    ----------
    dispersion : float
        r; the variance of y is its mean times 1 + e^f, so that a small r allows for more spread.
    """

    calibrated = True
    intercept = True
    weighted = True
    testing: ClassVar[dict] = {"options": {"dispersion": 2.5}, "responses": [0, 4, 1, 2, 7]}

    def __init__(self, dispersion: float = 1.0):
        if not 1e-3 <= dispersion <= 1e6:
            raise ValueError(
                f"negative_binomial: dispersion must be a number from 1e-3 to 1e6, not {dispersion!r}"
            )
        self.dispersion = float(dispersion)

    def code(self, responses, names=None):
        coding = code_real(responses, names)
        bad = np.argwhere((coding.y < 0) | (coding.y % 1 > 0))  # NaN, which is missing, is neither
        if len(bad):
            d, c = bad[0]
            raise ValueError(f"counts are whole numbers, 0 or more; document {d} has {coding.y[d, c]:g}")
        return replace(coding, task="count")

    def augment(self, f, y, rng, weight=None):
        weight = 1.0 if weight is None else weight
        r = self.dispersion
        return 0.5 * weight * (y - r), polya_gamma(weight * (y + r), f, rng)

    def log_psi(self, y, f):
        r = self.dispersion
        ways = gammaln(y + r) - gammaln(r) - gammaln(y + 1.0)
        return ways + y * f - (y + r) * np.logaddexp(0.0, f)

    # -- for prediction and for the tests

    def mean(self, f):
        return self.dispersion * np.exp(np.minimum(f, 500.0))

    def cdf(self, y, f):
        y = np.floor(y)
        return np.where(y < 0, 0.0, betainc(self.dispersion, np.maximum(y, 0.0) + 1.0, expit(-f)))

    def simulate(self, f, rng):
        rate = rng.standard_gamma(self.dispersion, np.shape(f)) * np.exp(np.minimum(f, 30.0))
        return rng.poisson(rate).astype(float)
