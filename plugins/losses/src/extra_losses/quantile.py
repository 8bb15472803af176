"""Quantile regression: the asymmetric Laplace likelihood."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from plugsamp.losses import Loss
from plugsamp.losses.coding import code_real
from plugsamp.random.draws import inverse_gaussian


class Quantile(Loss):
    """psi(y|f) = exp(-rho(y - f) / scale), rho(u) = |u|/2 + (quantile - 1/2) u; f is that quantile of y.

    With v = (y - f)/(2 scale), exp(-|v|) is a mixture of exp(-xi v^2/2), and xi given v is inverse
    Gaussian with mean 1/|v| and shape 1 (Kozumi and Kobayashi 2011 write the same mixture by its reciprocal).

    Parameters
    ----------
    quantile : float
        Between 0 and 1; 0.5 is the median (least absolute deviations).
    scale : float
        Of the deviations, in the units of y.
    """

    weighted = True
    testing: ClassVar[dict] = {"variants": [{"quantile": 0.3, "scale": 0.7}, {"quantile": 0.5, "scale": 0.4}]}

    def __init__(self, quantile: float = 0.5, scale: float = 1.0):
        if not 0 < quantile < 1:
            raise ValueError(f"quantile: quantile must lie between 0 and 1, not {quantile!r}")
        if not 1e-30 <= scale <= 1e30:
            raise ValueError(f"quantile: scale must be a number above 0, not {scale!r}")
        self.quantile, self.scale = float(quantile), float(scale)

    def code(self, responses, names=None):
        return code_real(responses, names)

    def augment(self, f, y, rng, weight=None):
        share = (1.0 if weight is None else weight) / self.scale
        omega = 0.25 * share**2 * inverse_gaussian(0.5 * share * np.abs(y - f), rng)
        return omega * y + share * (self.quantile - 0.5), omega

    def log_psi(self, y, f):
        q, scale = self.quantile, self.scale
        return np.log(q * (1.0 - q) / scale) - (0.5 * np.abs(y - f) + (q - 0.5) * (y - f)) / scale

    # what follows is for prediction and for the tests

    def mean(self, f):
        return f + self.scale * (1.0 / self.quantile - 1.0 / (1.0 - self.quantile))

    def cdf(self, y, f):
        u, q = (y - f) / self.scale, self.quantile
        below = q * np.exp((1.0 - q) * np.minimum(u, 0.0))
        return np.where(u < 0, below, 1.0 - (1.0 - q) * np.exp(-q * np.maximum(u, 0.0)))

    def simulate(self, f, rng):
        up, down = rng.standard_exponential((2, *np.shape(f)))
        return f + self.scale * (up / self.quantile - down / (1.0 - self.quantile))
