"""The contract of a loss: everything the sampler knows of it is how to draw (kappa, omega)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from plugsamp.losses.coding import Coding
from plugsamp.options import Configured


class Loss(Configured, ABC):
    """A loss as a scale mixture of Gaussians (MODEL: psi(y|f) = integral of exp(kappa f - omega f^2/2)).

    A subclass is a loss plugin. Its constructor's parameters are its configuration: they must be
    plain numbers, strings or booleans with type annotations, and be kept as attributes of the same
    name, from which `options` rebuilds the loss. Register it under the entry-point group
    ``plugsamp.losses``.

    Shapes: `f` and `y` are float64 arrays ``(documents of a block, outputs)``; a missing response is
    NaN in `y`. The caller sets kappa = omega = 0 where `y` is missing, and passes `y` there as 0-like
    valid values, so a loss needs no code for it.
    """

    #: Whether `probabilities` are those of a real likelihood (False: scores of a pseudo-posterior).
    calibrated: ClassVar[bool] = False
    #: Whether an intercept is part of the default design (MODEL section 4).
    intercept: ClassVar[bool] = False
    #: Whether the model has no responses at all.
    unsupervised: ClassVar[bool] = False
    #: Whether psi to the power of a document's weight stays in the family (`augment` takes `weight`).
    weighted: ClassVar[bool] = False

    @abstractmethod
    def code(self, responses: np.ndarray, names=None) -> Coding:
        """Check the user's responses and code them.

        Parameters
        ----------
        responses : ndarray (D,) or (D, C)
            As the user gave them (see `plugsamp.Corpus.responses`).
        names : sequence of str, optional
            Names of the columns where there are several.

        Returns
        -------
        Coding
            With ``y`` float64 (D, C), NaN where missing.

        Raises
        ------
        ValueError
            Where the responses do not fit the loss; the message says which and what would be right.
        """

    @abstractmethod
    def augment(self, f, y, rng, weight=None):
        """Draw (kappa, omega) given the linear predictor, for a block of documents.

        Parameters
        ----------
        f, y : ndarray (B, C) of float64
        rng : numpy.random.Generator
            The block's own stream; no other source of randomness may be used.
        weight : ndarray (B, C) or (B, 1) of float64, optional
            Weights of the documents, only where `weighted`.

        Returns
        -------
        kappa, omega : ndarrays (B, C) of float64, omega >= 0
        """

    @abstractmethod
    def log_psi(self, y, f):
        """log psi(y | f) up to terms free of f, elementwise; the exactness tests integrate it."""

    def decide(self, f, coding: Coding) -> np.ndarray:
        """The predicted responses in the user's own labels, from f (D, C)."""
        return coding.decide(f)

    def probabilities(self, f, coding: Coding) -> np.ndarray | None:
        """Class probabilities (D, classes) where the loss has them, otherwise None."""
        return None
