"""Logistic loss, through Polya-gamma variables (Zhu et al. 2013; Polson, Scott and Windle 2013)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import expit, log_expit, softmax

from plugsamp.checks import is_number
from plugsamp.losses.base import Loss
from plugsamp.losses.coding import Coding, code_classes
from plugsamp.random.polya_gamma import polya_gamma

#: Of the cost: its products with weights and linear predictors stay finite.
SMALLEST, LARGEST = 1e-30, 1e30


class Logistic(Loss):
    """psi(y|f) = 1/(1 + exp(-y f))^cost, y in {-1, +1}.

    Several classes are several outputs sharing the topics (multi-task), as are several labels.

    Parameters
    ----------
    cost : float
        c, any real number above 0: how much the labels count against the words. 1 is the likelihood of
        logistic regression; Zhu et al. 2013 uses 1 to 256.

    Notes
    -----
    With cost 1 and no weights a real likelihood: a label's probability is 1/(1 + exp(-f)). Of several
    classes each is that of its own binary model, P(class) = 1/(1 + exp(-f_c)), divided by their sum. These
    have the right shares where the words say nothing, and are too cautious where they say much, so they
    are not `calibrated` (`plugsamp.losses.Multinomial` is).
    With another cost the same formulas give scores of a pseudo-posterior: in the right order, and not
    calibrated (`calibrated` is False), as are those of a model with weights of documents or classes.
    """

    references = ("zhu2013", "polson2013")

    weighted = True
    search: ClassVar[dict[str, tuple]] = Loss.search | {"cost": (1.0, 5.0, 30.0)}

    def __init__(self, cost: float = 1.0):
        if not (is_number(cost) and SMALLEST <= cost <= LARGEST):
            raise ValueError(f"logistic: cost must be a number above 0 (to {LARGEST:g}), not {cost!r}")
        self.cost = float(cost)

    @property
    def calibrated(self) -> bool:
        """Whether the probabilities are those of a likelihood: where the cost is 1."""
        return self.cost == 1.0

    @property
    def draws_variances(self) -> bool:
        """Whether the weights have drawn variances where none is given: where the cost is 1."""
        return self.cost == 1.0

    def calibrated_for(self, coding: Coding) -> bool:
        return self.calibrated and coding.one_model

    def code(self, responses, names=None) -> Coding:
        return code_classes(responses, names)

    def augment(self, f, y, rng, weight=None):
        cost = self.cost if weight is None else self.cost * weight
        return 0.5 * cost * y, polya_gamma(np.broadcast_to(cost, f.shape), f, rng)

    def log_psi(self, y, f):
        return self.cost * log_expit(y * f)

    def probabilities(self, f, coding: Coding):
        if coding.task == "binary":
            return expit(np.hstack([-f, f]))
        return expit(f) if coding.task == "multilabel" else softmax(log_expit(f), axis=1)

    def positive(self, f):
        return expit(f)

    def simulate(self, f, rng):
        if not self.calibrated:
            return None
        return np.where(rng.random(np.shape(f)) < expit(f), 1.0, -1.0)
