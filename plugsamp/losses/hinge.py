"""Hinge loss: Gibbs MedLDA and LightMedLDA (Zhu et al. 2014; Zheng et al. 2015)."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np

from plugsamp.checks import is_number
from plugsamp.losses.base import Loss
from plugsamp.losses.coding import Coding, code_classes
from plugsamp.random.draws import inverse_gaussian

#: Of cost and margin: squares and products of theirs stay finite.
LARGEST = 1e30


class Hinge(Loss):
    """psi(y|f) = exp(-2 cost max(0, margin - y f)), y in {-1, +1}.

    Several classes are several outputs sharing the topics (multi-task, Zheng et al. 2015, section 4.1).

    Parameters
    ----------
    cost : float
        lambda, the regularisation of the loss against the prior; larger fits the labels harder. The default
        goes with a margin of 1 and weights of variance 0.01 (guide: losses).
    margin : float
        The margin asked for.

    Notes
    -----
    A pseudo-posterior: f is a score, not a log odds, and gives no calibrated probability.
    """

    references = ("zhu2014", "polson2011")

    weighted = True
    weight_variance = 0.01
    covariate_variance = 0.02
    words: ClassVar[dict[str, float]] = {"variance": 0.001, "covariate_variance": 0.01}
    search: ClassVar[dict[str, tuple]] = {
        "cost": (3.0, 10.0, 30.0), "variance": (0.01, 0.1, 1.0), "covariate_variance": (0.005, 0.05),
    }  # fmt: skip

    def __init__(self, cost: float = 102.4, margin: float = 1.0):
        if not (is_number(cost) and 0 < cost <= LARGEST):
            raise ValueError(f"hinge: cost must be a number above 0 (to {LARGEST:g}), not {cost!r}")
        if not (is_number(margin) and 0 <= margin <= LARGEST):
            raise ValueError(f"hinge: margin must be 0 or a number above it (to {LARGEST:g}), not {margin!r}")
        self.cost = float(cost)
        self.margin = float(margin)

    def code(self, responses, names=None) -> Coding:
        return code_classes(responses, names)

    def augment(self, f, y, rng, weight=None):
        cost = self.cost if weight is None else self.cost * weight
        # xi ~ IG(1/(cost |margin - y f|), 1): the sampler takes the reciprocal mean, so a zero is safe.
        xi = inverse_gaussian(cost * np.abs(self.margin - y * f), rng)
        omega = cost * cost * xi
        return y * (cost + omega * self.margin), omega

    def log_psi(self, y, f):
        return -2.0 * self.cost * np.maximum(0.0, self.margin - y * f)

    def first_weights(self, x, y, variance, intercept, weight, seed):
        """Return a linear support vector machine, the mode: the chain finds it only after hundreds of sweeps.

        With w = margin u, 2 cost sum max(0, margin - y w.x) + |w|^2 / (2 variance) is margin^2 / variance
        times |u|^2 / 2 + C sum max(0, 1 - y u.x), where C = 2 cost variance / margin.
        """
        if self.margin == 0:
            return None
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import LinearSVC

        cost = min(max(2.0 * self.cost * variance / self.margin, 1e-6), 1e3)
        model = LinearSVC(
            C=cost, loss="hinge", fit_intercept=intercept, intercept_scaling=10.0, max_iter=200,
            random_state=seed % 2**32,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # it is a start
            model.fit(x, y, sample_weight=weight)
        return self.margin * model.coef_[0], self.margin * float(np.ravel(model.intercept_)[0])
