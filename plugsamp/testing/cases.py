"""Tiny corpora with a model each, small enough for every assignment to be enumerated."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from plugsamp.losses.base import Loss
from plugsamp.losses.coding import is_missing
from plugsamp.model import Model
from plugsamp.priors.columns import Columns
from plugsamp.registry import RegistryError, load, names, plugins, resolve

#: Options for the built-in plugins: a cost of about one, so that the response and the words pull alike.
_VARIANTS = {
    "losses": {
        "hinge": [{"cost": 1.1, "margin": 1.0}],
        "gaussian": [{"variance": 0.8}, {"variance": "sample", "shape": 3.0, "rate": 2.0}],
        "logistic": [{"cost": 0.7}, {"cost": 2.5}],
        "epsilon_insensitive": [{"cost": 0.6, "epsilon": 0.3}],
    },
    "priors": {"normal": [{"variance": 3.0, "intercept_variance": 1.5}]},
}


def registered(group: str) -> list[str]:
    """Names registered in an entry-point group (``"losses"``, ``"kernels"``, ...), sorted."""
    return sorted({plugin.name for plugin in plugins(group)})


def variants_for(name: str, group: str = "losses") -> list[dict]:
    """The sets of constructor options with which the plugin `name` is tested, one or more.

    A plugin author sets the class attribute ``testing``, a dictionary that may hold

    - ``"variants"``: a list of such sets, where behaviour depends on options (a parameter fixed, or sampled);
    - ``"options"``: one set; without either the constructor's defaults are used;
    - ``"responses"`` (of losses): valid responses, through which the tiny corpora cycle (by default labels
      are tried, then real numbers).
    """
    if name in _VARIANTS.get(group, {}):
        return [dict(options) for options in _VARIANTS[group][name]]
    try:
        plugin = load(group, name)
    except RegistryError as error:
        if name not in names(group):
            error.add_note("A package whose pyproject.toml got a new entry point must be installed again.")
        raise
    testing = getattr(plugin, "testing", {})
    return [dict(options) for options in testing.get("variants") or [testing.get("options", {})]]


def options_for(name: str, group: str = "losses") -> dict:
    """The first of `variants_for`."""
    return variants_for(name, group)[0]


def variants(group: str) -> dict[str, object]:
    """Every registered plugin of a group in every variant, by a short name for test ids."""
    result = {}
    for name in registered(group):
        every = variants_for(name, group)
        for options in every:
            changing = [f"{k}={v}" for k, v in options.items() if any(o.get(k) != v for o in every)]
            result["-".join([name, *changing])] = resolve(group, name, **options)
    return result


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
    document_weights : ndarray (D,), optional
        The power that psi of each document has.
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
    document_weights: np.ndarray | None = None

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

    @cached_property
    def n_outputs(self) -> int:
        return self.y.shape[1]

    @cached_property
    def power(self) -> np.ndarray:
        """The power of psi of each document, (D,)."""
        return np.ones(self.n_documents) if self.document_weights is None else self.document_weights

    @property
    def fixed_parameters(self) -> bool:
        """Whether neither the loss nor the prior has anything of its own to draw."""
        return not (self.loss.start(self.n_outputs) or self.weights.start(self.n_outputs, self.columns))

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
        """Prior precision of the weights (C, J), of a prior's first state where it has one."""
        return self.precision_of(self.weights.start(self.n_outputs, self.columns))

    def precision_of(self, state: dict) -> np.ndarray:
        """Prior precision of the weights (C, J) given the prior's state."""
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
        from plugsamp.bags import Counted
        from plugsamp.corpus import Corpus

        pairs = self.document_of * self.n_words + self.words
        counts = np.bincount(pairs, minlength=self.n_documents * self.n_words)
        found = np.flatnonzero(counts)
        indptr = np.searchsorted(found, np.arange(self.n_documents + 1) * self.n_words)
        return Corpus.from_bag(
            Counted(indptr, found % self.n_words, counts[found]),
            vocabulary=[f"w{i}" for i in range(self.n_words)],
            responses=self.responses, covariates=self.covariates, weights=self.document_weights,
        )  # fmt: skip

    def model(self) -> Model:
        """The case as a `plugsamp.Model`."""
        alpha = np.asarray(self.alpha, dtype=float)
        beta = np.asarray(self.beta, dtype=float)
        k, prior = self.n_topics, self.weights
        return Model(k, alpha, beta, loss=self.loss, weights=prior, intercept=self.intercept)

    def changed(self, **values) -> Case:
        """With other words and responses of the same shapes; what follows from the shapes is taken over."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__, **values)
        return new


def responses_for(loss: Loss, labels, reals) -> np.ndarray:
    """The first of: the loss's own responses, labels, real numbers, that the loss can code."""
    labels, reals = np.array(labels, dtype=object), np.array(reals, dtype=float)
    own = getattr(type(loss), "testing", {}).get("responses")
    candidates = [labels, reals]
    if own:
        cycled = np.resize(np.array(own, dtype=object), labels.shape)
        cycled[is_missing(labels)] = None
        candidates.insert(0, cycled)
    if labels.ndim == 2:  # of a loss for one response a document
        candidates += [candidate[:, 0] for candidate in candidates]
    for candidate in candidates:
        try:
            loss.code(candidate, None)
        except ValueError:
            continue
        return candidate
    raise ValueError(f"{loss!r} codes neither labels nor real numbers: set testing = {{'responses': [...]}}")


def cases_for(loss: str | Loss) -> list[Case]:
    """The battery for one loss, an object or a registered name (its first variant).

    K of 2 and 3, K different from V, one, two and three outputs, asymmetric and symmetric alpha and
    beta, covariates with an intercept, missing labels, documents of unequal length, an empty one, one
    of one token, repeated words; weights of documents where the loss takes some.
    """
    if isinstance(loss, str):
        loss = resolve("losses", loss, **options_for(loss))

    def take(labels, reals):
        return responses_for(loss, labels, reals)

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
            document_weights=np.array([0.6, 1.7, 1.0]) if loss.weighted else None,
        ),
    ]
