"""Tiny corpora with a model each, small enough for every assignment to be enumerated."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import entry_points

import numpy as np

from plugsamp.columns import Columns
from plugsamp.losses.base import Loss
from plugsamp.model import Model
from plugsamp.registry import resolve

#: Options for the built-in plugins: a cost of about one, so that the response and the words pull alike.
_OPTIONS = {
    "losses": {
        "hinge": {"cost": 1.1, "margin": 1.0},
        "gaussian": {"variance": 0.8},
        "epsilon_insensitive": {"cost": 0.9, "epsilon": 0.2},
        "logistic": {"cost": 1.3},
    },
    "priors": {"normal": {"variance": 3.0, "intercept_variance": 1.5}},
}


def registered(group: str) -> list[str]:
    """Names registered in an entry-point group (``"losses"``, ``"kernels"``, ...), sorted."""
    return sorted({entry.name for entry in entry_points(group=f"plugsamp.{group}")})


def options_for(name: str, group: str = "losses") -> dict:
    """Constructor options with which the plugin `name` is tested.

    A plugin author sets the class attribute ``testing = {"options": {...}}``; without it, and for a
    plugin unknown to the kit, the constructor's defaults are used. For losses the same dictionary
    may hold ``"responses"``, a list of valid responses that the tiny corpora cycle through (by
    default labels are tried, then real numbers).
    """
    if name in _OPTIONS.get(group, {}):
        return dict(_OPTIONS[group][name])
    for entry in entry_points(group=f"plugsamp.{group}"):
        if entry.name == name:
            return dict(getattr(entry.load(), "testing", {}).get("options", {}))
    return {}


def _normal():
    return resolve("priors", "normal", **options_for("normal", "priors"))


@dataclass(frozen=True)
class Case:
    """A tiny corpus and a model.

    Parameters
    ----------
    name : str
    documents : tuple of tuples of int
        Word ids, document after document; each document sorted, as `Corpus` keeps them.
    n_words, n_topics : int
    alpha, beta : float or tuple of floats
    loss : Loss
    responses : ndarray (D,) or (D, C), optional
        As a user gives them.
    covariates : ndarray (D, P), optional
    weights : WeightPrior, optional
    intercept : bool, optional
        As in `Model`.
    """

    name: str
    documents: tuple
    n_words: int
    n_topics: int
    alpha: float | tuple
    beta: float | tuple
    loss: Loss = field(default_factory=lambda: resolve("losses", "none"))
    responses: np.ndarray | None = None
    covariates: np.ndarray | None = None
    weights: object = field(default_factory=_normal)
    intercept: bool | None = None

    def __str__(self) -> str:
        return self.name

    # -- the corpus ------------------------------------------------------------------------------

    @cached_property
    def words(self) -> np.ndarray:
        return np.array([w for document in self.documents for w in document], dtype=np.int64)

    @cached_property
    def lengths(self) -> np.ndarray:
        return np.array([len(document) for document in self.documents], dtype=np.int64)

    @cached_property
    def document_of(self) -> np.ndarray:
        """Document of each token, (N,)."""
        return np.repeat(np.arange(len(self.documents)), self.lengths)

    @property
    def n_documents(self) -> int:
        return len(self.documents)

    @property
    def n_tokens(self) -> int:
        return len(self.words)

    # -- the model -------------------------------------------------------------------------------

    @cached_property
    def alpha_vector(self) -> np.ndarray:
        return np.broadcast_to(np.asarray(self.alpha, dtype=float), (self.n_topics,))

    @cached_property
    def beta_vector(self) -> np.ndarray:
        return np.broadcast_to(np.asarray(self.beta, dtype=float), (self.n_words,))

    @cached_property
    def y(self) -> np.ndarray:
        """Coded responses (D, C), NaN where missing; C = 0 without a loss."""
        y = self.loss.code(self.responses, None).y
        return y if y.size else np.empty((self.n_documents, 0))

    @property
    def n_outputs(self) -> int:
        return self.y.shape[1]

    @cached_property
    def fixed(self) -> np.ndarray:
        """The part of the design that is not topics, (D, P) or (D, P + 1): covariates, then the intercept."""
        x = np.empty((self.n_documents, 0)) if self.covariates is None else np.asarray(self.covariates, float)
        intercept = self.intercept
        if intercept is None:
            intercept = self.loss.intercept or x.shape[1] > 0
        return np.column_stack([x, np.ones(len(x))]) if intercept and self.n_outputs else x

    @property
    def n_features(self) -> int:
        return self.n_topics + self.fixed.shape[1]

    @cached_property
    def columns(self) -> Columns:
        """Which weights are which."""
        n_covariates = 0 if self.covariates is None else np.shape(self.covariates)[1]
        return Columns(self.n_topics, n_covariates, self.fixed.shape[1] > n_covariates)

    @cached_property
    def prior_precision(self) -> np.ndarray:
        """Prior precision of the weights (C, J)."""
        state = self.weights.start(self.n_outputs, self.columns)
        rows = [self.weights.precision(state, c, self.columns) for c in range(self.n_outputs)]
        return np.array(rows).reshape(self.n_outputs, self.n_features)

    def design(self, z) -> np.ndarray:
        """u (D, J) of an assignment (N,)."""
        doc_topic = np.zeros((self.n_documents, self.n_topics))
        np.add.at(doc_topic, (self.document_of, np.asarray(z, dtype=int)), 1.0)
        return np.hstack([doc_topic / np.maximum(self.lengths, 1)[:, None], self.fixed])

    def counts(self, z) -> tuple[np.ndarray, np.ndarray]:
        """n_dk (D, K) and n_kw (K, V) of an assignment."""
        z = np.asarray(z, dtype=int)
        doc_topic = np.zeros((self.n_documents, self.n_topics), dtype=np.int64)
        topic_word = np.zeros((self.n_topics, self.n_words), dtype=np.int64)
        np.add.at(doc_topic, (self.document_of, z), 1)
        np.add.at(topic_word, (z, self.words), 1)
        return doc_topic, topic_word

    # -- the package's own objects ---------------------------------------------------------------

    def corpus(self):
        """The case as a `plugsamp.Corpus`."""
        from plugsamp.corpus import Corpus

        counts = np.zeros((self.n_documents, self.n_words), dtype=np.int64)
        np.add.at(counts, (self.document_of, self.words), 1)
        return Corpus.from_counts(counts, responses=self.responses, covariates=self.covariates)

    def model(self) -> Model:
        """The case as a `plugsamp.Model`."""
        alpha = np.asarray(self.alpha, dtype=float)
        beta = np.asarray(self.beta, dtype=float)
        k, prior = self.n_topics, self.weights
        return Model(k, alpha, beta, loss=self.loss, weights=prior, intercept=self.intercept)

    def with_documents(self, documents, responses) -> Case:
        """The same model on other words and responses (each document is sorted)."""
        return replace(self, documents=tuple(tuple(sorted(d)) for d in documents), responses=responses)


def _responses(loss: Loss, labels, reals, own):
    """The first of: the loss's own responses, labels, real numbers, that the loss can code."""
    candidates = [labels, reals]
    if own:
        flat = np.resize(np.array(own, dtype=object), len(labels))
        candidates.insert(0, flat)
    for candidate in candidates:
        try:
            loss.code(candidate, None)
        except ValueError:
            continue
        return candidate
    raise ValueError(f"{loss!r} codes neither labels nor real numbers: set testing = {{'responses': [...]}}")


def cases_for(loss_name: str) -> list[Case]:
    """The battery for one registered loss.

    K of 2 and 3, K different from V, one, two and three outputs, asymmetric and symmetric alpha and
    beta, covariates with an intercept, missing labels, documents of unequal length, an empty one, one
    of one token, repeated words.
    """
    loss = resolve("losses", loss_name, **options_for(loss_name))
    own = getattr(type(loss), "testing", {}).get("responses")

    def take(labels, reals):
        return _responses(loss, np.array(labels, dtype=object), np.array(reals, dtype=float), own)

    nan = float("nan")
    return [
        Case(
            "two-topics",
            ((0, 1, 1), (2, 2), (0,), ()),
            n_words=3,
            n_topics=2,
            alpha=(0.4, 0.9),
            beta=(0.3, 0.6, 0.2),
            loss=loss,
            responses=take(["b", "a", "b", "a"], [1.0, -0.7, 0.6, -1.1]),
        ),
        Case(
            "three-topics",
            ((0, 0, 1), (1, 1), (0,)),
            n_words=2,
            n_topics=3,
            alpha=(0.3, 0.5, 1.1),
            beta=(0.7, 0.4),
            loss=loss,
            responses=take([[1, 0], [0, None], [0, 1]], [[1.0, -0.5], [-0.8, nan], [0.3, 0.9]]),
        ),
        Case(
            "covariates",
            ((0, 1, 2), (0,), (1, 1), ()),
            n_words=3,
            n_topics=2,
            alpha=0.5,
            beta=0.4,
            loss=loss,
            covariates=np.array([[0.8], [-1.2], [0.3], [1.5]]),
            responses=take(["yes", "no", None, "yes"], [0.9, -1.0, nan, 0.4]),
        ),
        Case(
            "three-classes",
            ((0, 0, 3, 3), (1, 2), (0,)),
            n_words=4,
            n_topics=2,
            alpha=0.6,
            beta=0.5,
            loss=loss,
            responses=take([3, 1, 2], [1.2, -0.9, 0.2]),
        ),
    ]
