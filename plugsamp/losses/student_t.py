"""Student-t loss: real responses of which some are far off, as a scale mixture of Gaussians."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import gammaln, stdtr

from plugsamp.checks import is_number
from plugsamp.losses.base import Loss
from plugsamp.losses.coding import Coding, code_real

#: Of options: their squares stay finite.
SMALLEST, LARGEST = 1e-15, 1e15

#: Values of the degrees of freedom among which they are drawn, and those they begin with.
FREEDOMS = np.array([2.0, 2.5, 3.0, 4.0, 5.0, 6.5, 8.0, 10.0, 13.0, 17.0, 22.0, 30.0, 50.0, 100.0])
FIRST = 10.0


class StudentT(Loss):
    """psi(y|f) = t((y - f)/scale; df)/scale, for real responses.

    Parameters
    ----------
    df : float or "sample"
        Degrees of freedom: the fewer, the heavier the tails. "sample" draws them an output from 14 values
        from 2 to 100, about evenly spaced in logarithms, with equal prior probabilities.
    scale : float or "sample"
        The scale of every output; "sample" draws one an output, whose square has an inverse-gamma prior. With
        many degrees of freedom it is the standard deviation.
    shape, rate : float
        Of that prior.

    Notes
    -----
    y given f is N(f, scale^2/lambda), with lambda ~ Gamma(df/2, df/2) (Lange et al. 1989; Geweke 1993). Given
    y, lambda ~ Gamma((df + 1)/2, (df + ((y - f)/scale)^2)/2). Scale and degrees of freedom are drawn given
    lambda, which is then drawn anew.

    The weight w of a document is the power of psi. lambda then has the shape w (df + 1)/2.
    """

    references = ("lange1989", "geweke1993")

    calibrated = True
    weighted = True
    testing: ClassVar = {
        "variants": [
            {"df": 4.0, "scale": 0.8},
            {"df": "sample", "scale": "sample", "shape": 3.0, "rate": 2.0},
        ]
    }

    def __init__(
        self,
        df: float | str = "sample",
        scale: float | str = "sample",
        shape: float = 1.0,
        rate: float = 1.0,
    ):
        for name, value in (("df", df), ("scale", scale), ("shape", shape), ("rate", rate)):
            may = name in ("df", "scale")
            drawn = may and isinstance(value, str) and value == "sample"
            if not drawn and not (is_number(value) and SMALLEST <= value <= LARGEST):
                limits = f"from {SMALLEST:g} to {LARGEST:g}" + ' or "sample"' * may
                raise ValueError(f"student_t: {name} must be a number {limits}, not {value!r}")
        self.df = df if isinstance(df, str) else float(df)
        self.scale = scale if isinstance(scale, str) else float(scale)
        self.shape, self.rate = float(shape), float(rate)

    def code(self, responses, names=None) -> Coding:
        return code_real(responses, names)

    def start(self, n_outputs):
        first = {"df": FIRST, "scale": 1.0}
        return {name: np.full(n_outputs, value) for name, value in first.items() if self._drawn(name)}

    def simulate_parameters(self, n_outputs, rng):
        drawn = {}
        if self._drawn("df"):
            drawn["df"] = rng.choice(FREEDOMS, n_outputs)
        if self._drawn("scale"):
            drawn["scale"] = np.sqrt(self.rate / rng.standard_gamma(self.shape, n_outputs))
        return drawn

    def statistics(self, f, y, weight, parameters, rng):
        """Return (2 + values of the degrees of freedom, C): what the draws of both parameters need."""
        df, scale = self._values(parameters)
        lam = self._lambda(f, y, rng, weight, df, scale)
        there = weight > 0
        rows = [weight.sum(axis=0), np.sum(lam * (y - f) ** 2, axis=0, where=there)]
        if self._drawn("df"):
            nu = FREEDOMS[:, None, None]
            a = 0.5 * np.where(there, weight, 1.0) * (nu + 1.0)
            parts = weight * _log_constant(nu) + a * (np.log(0.5 * nu) + np.log(lam)) - 0.5 * nu * lam
            rows += list(np.sum(parts - gammaln(a), axis=1, where=there))
        return np.array(rows)

    def update(self, parameters, total, rng):
        n, squares = total[:2]
        if self._drawn("scale"):
            with np.errstate(divide="ignore", over="ignore"):  # a gamma of a tiny shape can be 0
                drawn = np.sqrt((self.rate + 0.5 * squares) / rng.standard_gamma(self.shape + 0.5 * n))
            parameters["scale"][:] = np.clip(drawn, SMALLEST, LARGEST)
        if self._drawn("df"):
            log_p = total[2:] + rng.gumbel(size=total[2:].shape)  # the largest is a draw
            parameters["df"][:] = FREEDOMS[np.argmax(log_p, axis=0)]

    def augment(self, f, y, rng, weight=None, parameters=None):
        df, scale = self._values(parameters)
        weight = np.ones(f.shape) if weight is None else np.broadcast_to(weight, f.shape)
        omega = self._lambda(f, y, rng, weight, df, scale) / scale**2
        return omega * y, omega

    def log_psi(self, y, f, parameters=None):
        df, scale = self._values(parameters)
        ratio = (y - f) / scale
        return _log_constant(df) - np.log(scale) - 0.5 * (df + 1.0) * np.log1p(ratio * ratio / df)

    def cdf(self, y, f, parameters=None):
        df, scale = self._values(parameters)
        return stdtr(df, (y - f) / scale)

    def simulate(self, f, rng, parameters=None):
        df, scale = self._values(parameters)
        return f + scale * rng.standard_t(np.broadcast_to(df, np.shape(f)))

    def _drawn(self, name: str) -> bool:
        return getattr(self, name) == "sample"

    def _values(self, parameters):
        """Degrees of freedom and scale, each a number or one an output."""
        parameters = parameters or {}
        return parameters.get("df", self.df), parameters.get("scale", self.scale)

    @staticmethod
    def _lambda(f, y, rng, weight, df, scale):
        """Draw lambda given f and y; of a document without weight whatever its prior's would be."""
        shape = 0.5 * np.where(weight > 0, weight, 1.0) * (df + 1.0)
        lam = rng.standard_gamma(shape) / (0.5 * (df + ((y - f) / scale) ** 2))
        return np.maximum(lam, np.finfo(float).tiny)


def _log_constant(df):
    """log of Gamma((df + 1)/2) / (Gamma(df/2) sqrt(pi df))."""
    return gammaln(0.5 * (df + 1.0)) - gammaln(0.5 * df) - 0.5 * np.log(np.pi * df)
