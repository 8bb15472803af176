"""Heteroscedastic loss: a Gaussian whose variance depends on the linear predictor."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import expit, log_expit, ndtr

from plugsamp.checks import is_number
from plugsamp.losses.base import Loss
from plugsamp.losses.coding import Coding, code_real
from plugsamp.losses.gaussian import LARGEST, SMALLEST
from plugsamp.random.polya_gamma import polya_gamma


class Heteroscedastic(Loss):
    """psi(y|f) = p N(y; f, v_1) + (1 - p) N(y; f, v_2) with p = 1/(1 + exp(-(a + b f))), for real responses.

    Parameters
    ----------
    shape, rate : float
        Of the inverse-gamma prior of the variances v_1 and v_2 of an output.
    spread : float
        The variance of the normal prior of a and b.

    Notes
    -----
    E[y|f] = f, and the variance goes from v_2 to v_1 as f goes from one end to the other: of ratings, say, it
    may be larger where the prediction is low. Such a mixture of Gaussians with a logistic gate is one of
    experts (Jacobs et al. 1991).

    Given which Gaussian a response is of, t = 1 or -1, and xi ~ PG(1, a + b f), psi is Gaussian in f and in
    (a, b) (Polson, Scott and Windle 2013), with v that Gaussian's variance:
    kappa = y/v + b (t/2 - a xi), omega = 1/v + b^2 xi.
    """

    references = ("jacobs1991", "polson2013")

    calibrated = True
    testing: ClassVar = {"options": {"shape": 3.0, "rate": 2.0, "spread": 1.0}}

    def __init__(self, shape: float = 1.0, rate: float = 1.0, spread: float = 10.0):
        for name, value in (("shape", shape), ("rate", rate), ("spread", spread)):
            if not (is_number(value) and SMALLEST <= value <= LARGEST):
                limits = f"from {SMALLEST:g} to {LARGEST:g}"
                raise ValueError(f"heteroscedastic: {name} must be a number {limits}, not {value!r}")
        self.shape, self.rate, self.spread = float(shape), float(rate), float(spread)

    def code(self, responses, names=None) -> Coding:
        return code_real(responses, names)

    def start(self, n_outputs):
        return {"variance": np.tile([1.0, 0.3], (n_outputs, 1)), "gate": np.zeros((n_outputs, 2))}

    def simulate_parameters(self, n_outputs, rng):
        return {
            "variance": self.rate / rng.standard_gamma(self.shape, (n_outputs, 2)),
            "gate": np.sqrt(self.spread) * rng.standard_normal((n_outputs, 2)),
        }

    def statistics(self, f, y, weight, parameters, rng):
        """Return (9, C): counts and squares of both Gaussians, and the moments that the gate needs."""
        first, xi = self._latent(f, y, rng, parameters)
        there = weight > 0
        squares, half, xi = (y - f) ** 2, np.where(first, 0.5, -0.5) * there, xi * there
        rows = [there & first, there & ~first, squares * (there & first), squares * (there & ~first)]
        rows += [xi, xi * f, xi * f * f, half, half * f]
        return np.array([row.sum(axis=0) for row in rows], dtype=float)

    def update(self, parameters, total, rng):
        shape = self.shape + 0.5 * total[:2].T
        with np.errstate(divide="ignore", over="ignore"):  # a gamma of a tiny shape can be 0
            drawn = (self.rate + 0.5 * total[2:4].T) / rng.standard_gamma(shape)
        parameters["variance"][:] = np.clip(drawn, SMALLEST, LARGEST)
        for c, (one, f, square, half, half_f) in enumerate(total[4:].T):
            precision = np.array([[one, f], [f, square]]) + np.eye(2) / self.spread
            root = np.linalg.cholesky(precision)
            shifted = np.linalg.solve(root, [half, half_f]) + rng.standard_normal(2)
            parameters["gate"][c] = np.linalg.solve(root.T, shifted)

    def augment(self, f, y, rng, weight=None, parameters=None):
        first, xi = self._latent(f, y, rng, parameters)
        (v1, v2), (a, b) = parameters["variance"].T, parameters["gate"].T
        precision = np.where(first, 1.0 / v1, 1.0 / v2)
        return precision * y + b * (np.where(first, 0.5, -0.5) - a * xi), precision + b * b * xi

    def log_psi(self, y, f, parameters=None):
        one, two = self._log_parts(y, f, parameters)
        return np.logaddexp(one, two)

    def cdf(self, y, f, parameters=None):
        (s1, s2), p = np.sqrt(parameters["variance"]).T, expit(self._gate(f, parameters))
        return p * ndtr((y - f) / s1) + (1.0 - p) * ndtr((y - f) / s2)

    def simulate(self, f, rng, parameters=None):
        (s1, s2), p = np.sqrt(parameters["variance"]).T, expit(self._gate(f, parameters))
        return f + np.where(rng.random(np.shape(f)) < p, s1, s2) * rng.standard_normal(np.shape(f))

    @staticmethod
    def _gate(f, parameters):
        a, b = parameters["gate"].T
        return a + b * f

    def _log_parts(self, y, f, parameters):
        gate, squares = self._gate(f, parameters), (y - f) ** 2
        logs = [-0.5 * (squares / v + np.log(2 * np.pi * v)) for v in parameters["variance"].T]
        return logs[0] + log_expit(gate), logs[1] + log_expit(-gate)

    def _latent(self, f, y, rng, parameters):
        """Draw whether responses are of the first Gaussian, and xi, given f and y."""
        one, two = self._log_parts(y, f, parameters)
        gate = self._gate(f, parameters)
        return rng.random(f.shape) < expit(one - two), polya_gamma(np.ones(f.shape), gate, rng)
