"""Diagonal orthant probit: a probit an output, sharing the topics (Magnusson et al. 2020)."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtr, softmax

from plugsamp.losses.base import Loss
from plugsamp.losses.coding import Coding, code_classes
from plugsamp.random.truncated_normal import positive_normal

#: Of f: beyond it log Phi is minus infinity, and differences of such are no numbers.
FARTHEST = 1e150


#: How class probabilities are normalised.
NORMALISATIONS = ("sum", "magnusson2020")


class Probit(Loss):
    """psi(y|f) = Phi(y f), y in {-1, +1}; one output a class, of two classes as well.

    Parameters
    ----------
    probabilities : {"sum", "magnusson2020"}
        How the probabilities of several classes are normalised. "sum" divides those of the classes' own
        models, Phi(f_c), by their sum. "magnusson2020" divides the odds Phi(f_c)/Phi(-f_c) by theirs, as
        Magnusson, Jonsson and Villani (2020, section 4.4) and Johndrow, Dunson and Lum (2013) do.

    Notes
    -----
    The sampler's target is the product of the outputs' probits, C binary models, each of which estimates
    P(class). Normalised odds are the probabilities of a class given that independent models say yes for one
    class alone. They are too extreme, and `calibrated` is False: shares of .9 and .1 become .99 and .01. A
    table of 0/1 is taken as well: each label is a probit of its own, with probability Phi(f_c).

    Divided by their sum, the probabilities of three classes or more have the right shares where the words say
    nothing, and are too cautious where they say much, so they are not `calibrated` either.

    Weights are refused: a probit to a power is no scale mixture of this kind.
    """

    references = ("magnusson2020", "johndrow2013")

    calibrated = True
    intercept = True

    def __init__(self, probabilities: str = "sum"):
        if probabilities not in NORMALISATIONS:
            raise ValueError(
                f"probit: probabilities must be one of {', '.join(NORMALISATIONS)}, not {probabilities!r}"
            )
        self.probabilities_by = probabilities

    def options(self) -> dict:
        # Without its default, which models and checkpoints of earlier versions do not have.
        return {} if self.probabilities_by == "sum" else {"probabilities": self.probabilities_by}

    def code(self, responses, names=None) -> Coding:
        return code_classes(responses, names, one_each=True)

    def calibrated_for(self, coding: Coding) -> bool:
        return coding.task == "multilabel" or (self.probabilities_by == "sum" and coding.one_model)

    def augment(self, f, y, rng, weight=None):
        return y * positive_normal(y * f, rng), np.ones(f.shape)

    def log_psi(self, y, f):
        return log_ndtr(y * f)

    def positive(self, f):
        return ndtr(f) if self.probabilities_by == "sum" else None

    def probabilities(self, f, coding: Coding):
        if coding.task == "multilabel":
            return ndtr(f)
        f = np.clip(f, -FARTHEST, FARTHEST)
        other = 0.0 if self.probabilities_by == "sum" else log_ndtr(-f)
        return softmax(log_ndtr(f) - other, axis=1)

    def simulate(self, f, rng):
        return np.where(rng.standard_normal(np.shape(f)) < f, 1.0, -1.0)
