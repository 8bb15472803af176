"""What the posterior is."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from plugsamp.checks import near_names, whole
from plugsamp.errors import InputWarning
from plugsamp.losses.base import Loss
from plugsamp.losses.coding import Coding
from plugsamp.losses.none import NoLoss
from plugsamp.priors.base import WeightPrior
from plugsamp.priors.hierarchical import Hierarchical
from plugsamp.priors.normal import Normal
from plugsamp.registry import require, resolve
from plugsamp.topics.base import Dirichlet, TopicPrior
from plugsamp.topics.concentration import Concentration
from plugsamp.units import mean_and_deviation

#: Real responses whose standard deviation is larger, or whose mean is more standard deviations from 0, are
#: not in the units that the priors are meant for.
FAR = 20.0


#: Prior mass of a word in a topic where none is given.
BETA = 0.05


@dataclass
class Model:
    """The posterior q(z, eta | w, y) of model.md section 1, free of how and where it is sampled.

    Parameters
    ----------
    n_topics : int
        K, from 1 to 65,535.
    alpha : float or array (K,)
        Dirichlet prior of the topics of a document, a topic's mass (not their sum).
    beta : float or array (V,)
        Dirichlet prior of the words of a topic.
    loss : Loss or str
        An object, or a registered name for one with its default options. By default none: plain LDA,
        which leaves responses aside (`Chain` warns where a corpus has some).
    weights : WeightPrior or str
    topics : TopicPrior or str
        Of the topics' words: "dirichlet", with seed words, or spike and slab (`plugsamp.topics`).
    learn_alpha, learn_beta : Concentration or str
        Whether and how alpha and beta are learnt: "none", "slice" or "fixed_point", for more a
        `plugsamp.topics.concentration.Concentration`. The values given are where learning starts.
    intercept : bool, optional
        Whether the design has an intercept. By default: where the loss asks for one, or the corpus
        has covariates.
    class_weight : dict of class to float, or "balanced", optional
        How much the responses of a class count, where the loss can be weighted
        (`plugsamp.regression.response_weights`).
    standardise : bool
        Whether real responses are brought to mean 0 and variance 1 for the loss, so that its options and
        the prior of the weights are in those units; predictions are in the user's.

    Raises
    ------
    ValueError, TypeError
        For a parameter outside its range; the message names it.
    """

    references: ClassVar[tuple[str, ...]] = ("blei2003",)

    n_topics: int
    alpha: float | np.ndarray = 0.1
    beta: float | np.ndarray = BETA
    loss: Loss | str | None = None
    weights: WeightPrior | str | None = None
    intercept: bool | None = None
    class_weight: dict | str | None = None
    standardise: bool = False
    topics: TopicPrior | str | None = None
    learn_alpha: Concentration | str = "none"
    learn_beta: Concentration | str = "none"

    def __post_init__(self):
        self.n_topics = whole("n_topics", self.n_topics, 1, 65_535)
        self.alpha = _prior("alpha", self.alpha)
        self.beta = _prior("beta", self.beta)
        if self.alpha.ndim and len(self.alpha) != self.n_topics:
            raise ValueError(f"alpha has {len(self.alpha)} values for {self.n_topics} topics")
        #: Whether a loss was asked for; without one responses are not used.
        self.loss_given = self.loss is not None
        self.loss = resolve("losses", self.loss) if self.loss_given else NoLoss()
        self.weights = resolve("priors", self.weights) if self.weights is not None else Normal()
        self.topics = resolve("topics", self.topics) if self.topics is not None else Dirichlet()
        require("loss", self.loss, Loss, "losses")
        require("weights", self.weights, WeightPrior, "priors")
        #: Whether variances of weights were asked for; without any the loss has some.
        self.weights_given = type(self.weights) is not Normal or self.weights.options() != Normal().options()
        self.weights = self.weights.for_loss(self.loss)
        require("topics", self.topics, TopicPrior, "topics")
        self._check_learning()
        if not isinstance(self.intercept, bool | np.bool_ | None):
            raise TypeError(f"intercept must be True, False or None, not {self.intercept!r}")
        if not isinstance(self.standardise, bool | np.bool_):
            raise TypeError(f"standardise must be True or False, not {self.standardise!r}")

    def _check_learning(self) -> None:
        for name in ("learn_alpha", "learn_beta"):
            given = getattr(self, name)
            if not isinstance(given, str | Concentration):
                raise TypeError(f"{name} must be a Concentration or a method, not {given!r}")
            try:
                setattr(self, name, Concentration(given) if isinstance(given, str) else given)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        one_value = self.learn_alpha.method != "none" and self.learn_alpha.symmetric
        if one_value and self.alpha.ndim and (self.alpha != self.alpha[0]).any():
            raise ValueError("learn_alpha: symmetric starts at one number, and alpha is a vector")
        if self.learn_beta.method != "none":
            if self.beta.ndim:
                raise ValueError("learn_beta starts at one number, and beta is a vector")
            if self.topics.needs_phi:
                raise ValueError(f"learn_beta does not go with {self.topics!r}")

    def with_words(self) -> Model:
        """Return the model for words as covariates: with the loss's own variances, where none were given."""
        if self.weights_given or not self.loss.words:
            return self
        return replace(self, weights=Normal(**self.loss.words))

    def coding(self, corpus) -> Coding:
        """The responses of a corpus, coded for the loss.

        Raises
        ------
        ValueError
            Where the corpus has none and the loss needs some, or they do not fit the loss.
        """
        if corpus.responses is None and not self.loss.unsupervised:
            raise ValueError(f"{self.loss!r} needs responses, and the corpus has none")
        coding = self.loss.code(corpus.responses, corpus.response_names)
        if not isinstance(coding, Coding):
            raise TypeError(f"{self.loss!r}: code must return a Coding, not {type(coding).__name__}")
        coding = _of_weight(coding, corpus.weights)
        if coding.task == "real":
            _warn_of_constants(coding)
        if coding.task == "real" and not self.standardise:
            _warn_of_units(coding.y)
        return coding.standardised() if self.standardise and coding.task == "real" else coding

    def has_intercept(self, covariates: bool) -> bool:
        """Whether the design has an intercept, given whether it has covariates."""
        if self.intercept is not None:
            return bool(self.intercept)
        return self.loss.intercept or covariates

    def check_weighted(self, weight) -> None:
        """Refuse weights of responses (or None) that the loss cannot use."""
        if weight is not None and not self.loss.weighted:
            raise ValueError(
                f"{self.loss!r} takes no weights of documents or classes: psi to a power is no such loss"
            )

    def alpha_vector(self) -> np.ndarray:
        """alpha as float64 (K,)."""
        return np.broadcast_to(self.alpha, (self.n_topics,)).astype(float)

    def beta_vector(self, n_words: int) -> np.ndarray:
        """beta as float64 (V,)."""
        if self.beta.ndim and len(self.beta) != n_words:
            raise ValueError(f"beta has {len(self.beta)} values for {n_words} words")
        return np.broadcast_to(self.beta, (n_words,)).astype(float)


def _of_weight(coding: Coding, weights) -> Coding:
    """Responses of documents of weight 0 are missing, for units and class weights too."""
    if weights is None or not len(coding.y) or (np.asarray(weights) > 0).all():
        return coding
    y = np.where(np.asarray(weights)[:, None] > 0, coding.y, np.nan)
    if coding.n_outputs and np.isnan(y).all():
        raise ValueError("no document with a response has a weight above 0")
    return replace(coding, y=y)


#: Below this a Dirichlet prior's draws are all zero in double precision; above, the token kernels'
#: single precision no longer holds the products of two priors, and the counts leave no trace.
SMALLEST_PRIOR, LARGEST_PRIOR = 1e-6, 1e9


def _prior(name: str, value) -> np.ndarray:
    given = value
    try:
        value = np.asarray(value)
        if value.dtype.kind not in "iuf":  # text would be read as numbers
            raise TypeError
        value = value.astype(float)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number or a vector of numbers, not {given!r}") from None
    if value.ndim > 1:
        raise ValueError(f"{name} must be a number or a vector, not an array of shape {value.shape}")
    fits = (value >= SMALLEST_PRIOR) & (value <= LARGEST_PRIOR)  # NaN does neither
    if not fits.all():
        worst = value[~fits][0] if value.ndim else value[()]
        limits = f"{SMALLEST_PRIOR:g} or more" if not worst > LARGEST_PRIOR else f"{LARGEST_PRIOR:g} or less"
        raise ValueError(f"{name} must be {limits} everywhere, found {worst}")
    return value


def warn_of_idle_parts(corpus, model: Model) -> None:
    """Warn of more topics than tokens, and of a prior of weights where there are none."""
    found = []
    if model.n_topics > corpus.n_tokens:
        found.append(
            f"there are {model.n_topics} topics for {corpus.n_tokens} tokens, so that most have no word; "
            "n_topics should be much smaller"
        )
    if model.loss.unsupervised and isinstance(model.weights, Hierarchical):
        found.append("weights=hierarchical draws variances of weights, and the model has none (loss none)")
    for message in found:
        warnings.warn(message, InputWarning, stacklevel=4)


def _warn_of_constants(coding) -> None:
    """Warn of real responses that are the same for all documents."""
    for name, values in zip(coding.output_names, coding.y.T, strict=True):
        values = values[~np.isnan(values)]
        if len(values) > 1 and np.ptp(values) == 0:
            warnings.warn(
                f"the response {name!r} is {values[0]:.6g} for all {len(values):,} documents, so "
                "there is nothing to predict; check that the right column is given",
                InputWarning,
                stacklevel=4,
            )


def _warn_of_units(y) -> None:
    """Warn of real responses in units for which the priors are not meant."""
    for values in y.T:
        values = values[~np.isnan(values)]
        center, scale = mean_and_deviation(values) if len(values) else (0.0, 1.0)
        if abs(center) > FAR * scale or scale > FAR:
            warnings.warn(
                f"the responses have mean {center:.4g} and standard deviation {scale:.3g}, and the priors of "
                "weights and variance are for responses near mean 0 and variance 1; Model(..., "
                "standardise=True) brings them there, and predictions are in the units given",
                InputWarning,
                stacklevel=4,
            )
            return


Model.__init__ = near_names(Model.__init__)
