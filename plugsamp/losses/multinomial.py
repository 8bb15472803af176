"""Multinomial logit by stick-breaking: one likelihood for all classes (Linderman, Johnson and Adams 2015)."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from scipy.special import expit, log_expit

from plugsamp.losses.base import Loss
from plugsamp.losses.coding import Coding, code_classes
from plugsamp.random.polya_gamma import polya_gamma

#: How classes are ordered.
ORDERS = ("frequency", "label")


class Multinomial(Loss):
    """P(class) = sigma(f_1), (1 - sigma(f_1)) sigma(f_2), ..., with an output a class but the last.

    Parameters
    ----------
    order : {"frequency", "label"}
        "frequency" puts the most frequent class of the corpus first, "label" sorts classes by their labels.

    Notes
    -----
    Output c says whether a document has class c, given that it has none of the classes before. A document
    tells nothing about the outputs after its class, so kappa and omega are 0 there. The others are binary
    logits, which Polya-gamma variables make Gaussian (Polson, Scott and Windle 2013). Two classes are one
    output, as with `plugsamp.losses.Logistic`.

    The order is part of the model: in another order, the same prior of the weights gives other class
    probabilities. With the most frequent class first, the probabilities of rare classes depend on more
    outputs than those of frequent classes do.
    """

    references = ("linderman2015", "polson2013")

    calibrated = True
    intercept = True
    weighted = True
    draws_variances = True
    testing: ClassVar = {"responses": ["b", "a", "c"]}

    def __init__(self, order: str = "frequency"):
        if order not in ORDERS:
            raise ValueError(f"multinomial: order must be one of {', '.join(ORDERS)}, not {order!r}")
        self.order = order

    def code(self, responses, names=None) -> Coding:
        coding = code_classes(responses, names)
        if coding.task == "multilabel":
            raise ValueError(
                "multinomial is for one label a document, and these are several; take loss=logistic"
            )
        if coding.task == "binary":
            return coding
        count = (coding.y > 0).sum(axis=0)
        key = -count if self.order == "frequency" else np.arange(len(count))
        order = np.argsort(key, kind="stable")
        y = coding.y[:, order[:-1]]
        later = np.cumsum(y > 0, axis=1) - (y > 0) > 0  # the class came before
        return replace(coding, y=np.where(later, np.nan, y), order=tuple(order.tolist()))

    def augment(self, f, y, rng, weight=None):
        power = np.ones(f.shape) if weight is None else np.broadcast_to(weight, f.shape)
        return 0.5 * power * y, polya_gamma(power, f, rng)

    def log_psi(self, y, f):
        return log_expit(y * f)

    def probabilities(self, f, coding: Coding):
        if coding.order is None:
            return expit(np.hstack([-f, f]))
        rest = np.cumsum(log_expit(-f), axis=1)  # no class so far
        zero = np.zeros((len(f), 1))
        p = np.exp(np.hstack([log_expit(f), zero]) + np.hstack([zero, rest]))
        out = np.empty_like(p)
        out[:, list(coding.order)] = p
        return out

    def decide(self, f, coding: Coding):
        return coding.choose(self.probabilities(f, coding))
