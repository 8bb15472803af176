"""Diagonal orthant probit: a probit an output, sharing the topics (paper 004)."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtr, softmax

from plugsamp.losses.base import Loss
from plugsamp.losses.coding import Coding, code_classes
from plugsamp.random.truncated_normal import positive_normal

#: Of f: beyond it log Phi is minus infinity, and differences of such are no numbers.
FARTHEST = 1e150


class Probit(Loss):
    """psi(y|f) = Phi(y f), y in {-1, +1}; one output a class, of two classes as well.

    Notes
    -----
    The sampler's target is the product of the outputs' probits. Of several classes, the probabilities are
    those of the label given that a document has one and no other, p_c proportional to
    Phi(f_c)/Phi(-f_c) (MODEL section 2). A table of 0/1 is taken as well: each label is a probit of its
    own, with probability Phi(f_c). Both are those of a real likelihood.

    Weights are refused: a probit to a power is no scale mixture of this kind.
    """

    references = ("magnusson2020", "johndrow2013")

    calibrated = True
    intercept = True

    def code(self, responses, names=None) -> Coding:
        return code_classes(responses, names, one_each=True)

    def augment(self, f, y, rng, weight=None):
        return y * positive_normal(y * f, rng), np.ones(f.shape)

    def log_psi(self, y, f):
        return log_ndtr(y * f)

    def probabilities(self, f, coding: Coding):
        if coding.task == "multilabel":
            return ndtr(f)
        f = np.clip(f, -FARTHEST, FARTHEST)
        return softmax(log_ndtr(f) - log_ndtr(-f), axis=1)

    def simulate(self, f, rng):
        return np.where(rng.standard_normal(np.shape(f)) < f, 1.0, -1.0)
