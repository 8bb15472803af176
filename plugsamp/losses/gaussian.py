"""Gaussian loss: sLDA regression."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from plugsamp.checks import is_number
from plugsamp.losses.base import Loss
from plugsamp.losses.coding import Coding, code_real

#: Of a variance: its reciprocal times squares stays finite.
SMALLEST, LARGEST = 1e-30, 1e30


class Gaussian(Loss):
    """psi(y|f) = N(y; f, variance), for real responses.

    Parameters
    ----------
    variance : float or "sample"
        sigma^2 of every output; "sample" draws one an output from its inverse-gamma conditional.
    shape, rate : float
        a_0 and b_0 of the inverse-gamma prior of a sampled variance.
    """

    references = ("mcauliffe2007",)

    calibrated = True
    weighted = True

    def __init__(self, variance: float | str = "sample", shape: float = 1.0, rate: float = 1.0):
        if isinstance(variance, str):
            if variance != "sample":
                raise ValueError(f'gaussian: variance must be a number or "sample", not {variance!r}')
        elif not (is_number(variance) and SMALLEST <= variance <= LARGEST):
            limits = f"from {SMALLEST:g} to {LARGEST:g}"
            raise ValueError(f"gaussian: variance must be a number {limits}, not {variance!r}")
        for name, value in (("shape", shape), ("rate", rate)):
            if not (is_number(value) and SMALLEST <= value <= LARGEST):
                raise ValueError(f"gaussian: {name} must be a number above 0 (to {LARGEST:g}), not {value!r}")
        self.variance = variance if isinstance(variance, str) else float(variance)
        self.shape, self.rate = float(shape), float(rate)

    def code(self, responses, names=None) -> Coding:
        return code_real(responses, names)

    def start(self, n_outputs):
        return {"variance": np.ones(n_outputs)} if self.variance == "sample" else {}

    def simulate_parameters(self, n_outputs, rng):
        if self.variance != "sample":
            return {}
        return {"variance": self.rate / rng.standard_gamma(self.shape, n_outputs)}

    def statistics(self, f, y, weight, parameters, rng):
        return np.array([weight.sum(axis=0), (weight * (y - f) ** 2).sum(axis=0)])

    def update(self, parameters, total, rng):
        n, squares = total
        if (squares > LARGEST * np.maximum(n, 1.0)).any():
            raise ValueError(
                f"gaussian: the responses' variance is above {LARGEST:g}, the most that can be sampled; "
                "use larger units or standardise=true"
            )
        with np.errstate(divide="ignore", over="ignore"):  # a gamma of a tiny shape can be 0
            drawn = (self.rate + 0.5 * squares) / rng.standard_gamma(self.shape + 0.5 * n)
        parameters["variance"][:] = np.clip(drawn, SMALLEST, LARGEST)

    def augment(self, f, y, rng, weight=None, parameters=None):
        precision = np.broadcast_to(1.0 / self._variance(parameters), f.shape)
        if weight is not None:
            precision = precision * weight
        return precision * y, precision

    def log_psi(self, y, f, parameters=None):
        variance = self._variance(parameters)
        return -0.5 * ((y - f) ** 2 / variance + np.log(2 * np.pi * variance))

    def cdf(self, y, f, parameters=None):
        return ndtr((y - f) / np.sqrt(self._variance(parameters)))

    def simulate(self, f, rng, parameters=None):
        return f + np.sqrt(self._variance(parameters)) * rng.standard_normal(np.shape(f))

    def _variance(self, parameters):
        return self.variance if parameters is None else parameters["variance"]
