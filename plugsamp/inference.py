"""Prediction on new documents from kept draws of a chain (MODEL section 7)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from plugsamp.checks import whole
from plugsamp.corpus import Corpus
from plugsamp.covariates.encoder import Encoder
from plugsamp.dispatch import load
from plugsamp.losses.base import Loss
from plugsamp.losses.coding import Coding
from plugsamp.predictive import Predictive
from plugsamp.state import aligned, padded

_compiled = load("plugsamp.kernels.fold_in")

#: Gibbs passes over a new document, how many of them are left out of the average, and independent chains of
#: so many passes. One chain stays in one mode of a document's posterior, the more so the more topics there
#: are: on 20ng at K = 400, 100 passes of one chain give an accuracy of .806, 96 passes in eight chains .821;
#: at K = 100, 12 passes give .818 and eight chains of three .832.
PASSES, BURN_IN, RESTARTS = 3, 1, 8

#: Documents between two looks at the keyboard.
_CHUNK = 256

#: Counts of the compiled loop are float32, exact below this.
_LONGEST = 2**24 - 1


class PosteriorKeeper:
    """Collects what prediction needs from the sweeps of a chain.

    Parameters
    ----------
    chain : Chain

    Examples
    --------
    ::

        keeper = PosteriorKeeper(chain)
        for info in chain.sweeps(100):
            if info.sweep > 50 and info.sweep % 5 == 0:
                keeper.keep()
        predictor = keeper.predictor()
    """

    def __init__(self, chain):
        self.chain = chain
        self.n_kept = 0
        self._scaled = None  # sum over kept sweeps of n_kw / (n_k + sum of beta), word-major
        self._inverse = None  # sum of 1 / (n_k + sum of beta)
        self._eta: list[np.ndarray] = []
        self._parameters: list[dict[str, np.ndarray]] = []

    def keep(self) -> None:
        """Keep the chain's present state: the mean of the topics given z, weights and loss parameters."""
        state = self.chain.state
        inverse = 1.0 / (state.topic_totals[: state.n_topics] + state.beta_sum)
        if self._scaled is None:
            self._scaled = np.zeros((state.n_words, state.n_topics))
            self._inverse = np.zeros(state.n_topics)
        for first in range(0, state.n_words, 1024):
            rows = slice(first, first + 1024)
            self._scaled[rows] += state.topic_word[rows, : state.n_topics] * inverse
        self._inverse += inverse
        self._eta.append(state.eta.copy())
        self._parameters.append({name: v.copy() for name, v in self.chain.parameters.items()})
        self.n_kept += 1

    def phi(self) -> np.ndarray:
        """The mean over kept sweeps of (n_kw + beta_w) / (n_k + sum of beta), float64 (K, V)."""
        if not self.n_kept:
            raise ValueError("no draw has been kept: call keep() after at least one sweep")
        beta = self.chain.model.beta_vector(self.chain.state.n_words)
        return ((self._scaled + beta[:, None] * self._inverse) / self.n_kept).T

    def predictor(
        self, passes: int = PASSES, burn_in: int = BURN_IN, restarts: int = RESTARTS, seed: int | None = None
    ) -> Predictor:
        """What has been kept, as a predictor that no longer needs the chain.

        Parameters
        ----------
        passes, burn_in : int
            Gibbs passes over a new document, and how many of them are left out.
        restarts : int
            Independent chains of so many passes over each document, averaged.
        seed : int, optional
            By default the chain's.

        Raises
        ------
        ValueError
            Where nothing has been kept.
        """
        chain = self.chain
        names = chain.corpus.covariate_names if chain.covariates is not None else None
        return Predictor(
            phi=self.phi(),
            eta=np.array(self._eta),
            alpha=chain.model.alpha_vector(),
            loss=chain.model.loss,
            coding=chain.coding,
            parameters={k: np.array([p[k] for p in self._parameters]) for k in self._parameters[0]},
            vocabulary=chain.corpus.vocabulary,
            covariate_names=names or (),
            intercept=chain.intercept,
            passes=passes,
            burn_in=burn_in,
            restarts=restarts,
            seed=chain.seed if seed is None else seed,
        )


@dataclass(frozen=True, eq=False)
class Predictor:
    """A fitted model, as far as prediction needs it. Immutable; predicting never changes it.

    Attributes
    ----------
    phi : float32 (K, V)
        The mean of the topics over kept sweeps.
    eta : float64 (S, C, J)
        The kept draws of the weights: topics, covariates, intercept. C is 0 without responses.
    alpha : float64 (K,)
    loss : Loss
    coding : Coding
        Task, classes and units; its y is empty.
    vocabulary : tuple of str (V,)
    covariate_names : tuple of str (P,)
    intercept : bool
    passes, burn_in : int
        Gibbs passes over a new document, and how many of them are left out of the average.
    restarts : int
        Independent chains of so many passes over each document, averaged: with many topics one chain
        stays in one mode of the document's posterior.
    seed : int
    encoder : Encoder, optional
        Makes the covariates of documents from their columns and words.
    parameters : dict of float64 arrays (S, C, ...)
        The kept draws of the loss's own parameters, by name; without them there are labels alone.

    Raises
    ------
    ValueError
        For parts that do not fit together.
    """

    phi: np.ndarray
    eta: np.ndarray
    alpha: np.ndarray
    loss: Loss
    coding: Coding
    vocabulary: tuple[str, ...]
    covariate_names: tuple[str, ...] = ()
    intercept: bool = False
    passes: int = PASSES
    burn_in: int = BURN_IN
    restarts: int = RESTARTS
    seed: int = 0
    encoder: Encoder | None = None
    parameters: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self):
        # Word-major in memory: the order of the compiled loop.
        phi = np.array(np.asarray(self.phi, dtype=np.float32).T, order="C").T
        eta, alpha = np.array(self.eta, dtype=float), np.array(self.alpha, dtype=float)
        parameters = {name: np.array(v, dtype=float) for name, v in sorted(self.parameters.items())}
        for name, array in ({"phi": phi, "eta": eta, "alpha": alpha} | parameters).items():
            if not np.isfinite(array).all():
                raise ValueError(f"predictor: {name} holds a number that is not finite")
            array.flags.writeable = False
        for name, value in (("phi", phi), ("eta", eta), ("alpha", alpha), ("parameters", parameters)):
            object.__setattr__(self, name, value)
        n_outputs = self.coding.n_outputs
        object.__setattr__(self, "coding", replace(self.coding, y=np.empty((0, n_outputs))))
        for name in ("vocabulary", "covariate_names"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        n_topics = len(alpha)
        if phi.shape != (n_topics, len(self.vocabulary)):
            raise ValueError(
                f"predictor: phi of shape {phi.shape} for {n_topics} topics and {len(self.vocabulary)} words"
            )
        width = n_topics + len(self.covariate_names) + self.intercept
        fits = eta.ndim == 3 and len(eta) > 0 and eta.shape[1] == n_outputs
        if not fits or (n_outputs and eta.shape[2] != width):
            raise ValueError(
                f"predictor: eta of shape {eta.shape}, expected (draws, {n_outputs}, {width}) "
                f"for {n_topics} topics, {len(self.covariate_names)} covariates, intercept {self.intercept}"
            )
        self._check_parameters()
        for name in ("passes", "burn_in", "restarts", "seed"):
            least = 1 if name == "restarts" else 0
            object.__setattr__(self, name, whole(f"predictor: {name}", getattr(self, name), least))
        # The first pass draws from expected counts, not from the chain, so it is never kept.
        if not 1 <= self.burn_in < self.passes:
            raise ValueError(
                f"predictor: burn_in must be 1 or more and below passes, "
                f"not {self.burn_in} of {self.passes} passes"
            )

    def _check_parameters(self) -> None:
        if not self.parameters:
            return
        expected = self.loss.start(self.coding.n_outputs)
        if set(expected) != set(self.parameters):
            raise ValueError(
                f"predictor: {self.loss!r} has the parameters {', '.join(sorted(expected)) or 'none'}, "
                f"given are {', '.join(self.parameters)}"
            )
        for name, found in self.parameters.items():
            shape = (len(self.eta), *np.shape(expected[name]))
            if found.shape != shape:
                raise ValueError(
                    f"predictor: parameter {name} of shape {found.shape}, expected {shape}, a value a draw"
                )

    def with_options(self, **options) -> Predictor:
        """The same model with other `passes`, `burn_in`, `restarts` or `seed`."""
        valid = ("passes", "burn_in", "restarts", "seed")
        unknown = sorted(set(options) - set(valid))
        if unknown:
            raise ValueError(f"predictor: {unknown[0]!r} is not one of {', '.join(valid)}")
        return replace(self, **options)

    @property
    def n_topics(self) -> int:
        return len(self.alpha)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of topics, weights, loss parameters, prior, vocabulary and units, in hex."""
        h = hashlib.sha256(b"plugsamp predictor 1")
        for array, kind in ((self.phi.T, "<f4"), (self.eta, "<f8"), (self.alpha, "<f8")):
            h.update(repr(array.shape).encode())
            h.update(np.ascontiguousarray(array, dtype=kind).tobytes())
        for names in (self.vocabulary, self.covariate_names):
            for name in names:
                data = name.encode("utf-8", "surrogatepass")
                h.update(len(data).to_bytes(8, "little") + data)
            h.update(b"end")
        if self.encoder is not None:
            h.update(self.encoder.digest.encode())
        # Only what there is, so that models without them keep the digest that they were saved with.
        extra = {f"parameter {name}": v for name, v in self.parameters.items()}
        extra |= {"center": self.coding.center, "scale": self.coding.scale}
        for name, array in extra.items():
            if array is not None:
                h.update(f"{name} {array.shape}".encode())
                h.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
        return h.hexdigest()

    @cached_property
    def _table(self) -> np.ndarray:
        """phi as float32 (V, K padded), each word's row scaled to a largest value of 1.

        Only ratios within a row matter; scaled, they can neither underflow nor lose digits.
        """
        rows = self.phi.T
        table = aligned((rows.shape[0], padded(self.n_topics)), np.float32)
        top = rows.max(axis=1, initial=0.0)
        np.divide(rows, top[:, None], out=table[:, : self.n_topics], where=top[:, None] > 0)
        return table

    def predict(self, corpus) -> Prediction:
        """Topics, linear predictors and labels of documents.

        A document's result depends on the model, the seed and the document alone: not on the others
        predicted with it, its place among them, or the order of its words.

        Parameters
        ----------
        corpus : Corpus
            Of any vocabulary. Words that the model does not know, or knows with probability 0 in every
            topic, are left out and counted.

        Returns
        -------
        Prediction

        Raises
        ------
        ValueError
            Where the model has covariates and the corpus not the same ones, nor the columns of which they
            are made.
        """
        if not isinstance(corpus, Corpus):
            raise TypeError(
                f"documents to predict must be a plugsamp.Corpus, not {type(corpus).__name__}; "
                "of a count matrix, ps.Corpus.from_counts(X, vocabulary=...) makes one"
            )
        covariates = self._covariates(corpus)
        words, offsets, n_unknown = self._known(corpus)
        zbar = self._fold_in(words, offsets)
        n_known = np.diff(offsets)
        # A document without a known token has nothing to say: its features are the prior's mean.
        topics = np.where(n_known[:, None] > 0, zbar, self.alpha / self.alpha.sum())
        predictive = Predictive(
            self.loss, self.eta, self.parameters, self.coding, topics, covariates, self.intercept,
            lambda first, last: self._topic_draws(words, offsets, first, last),
        )  # fmt: skip
        f = predictive.f()
        probabilities = predictive.probabilities() if f.shape[1] else None
        return Prediction(
            zbar=zbar,
            theta=(zbar * n_known[:, None] + self.alpha) / (n_known + self.alpha.sum())[:, None],
            f=f,
            labels=self._labels(predictive, f, probabilities),
            probabilities=probabilities,
            n_known=n_known,
            n_unknown=n_unknown,
            ids=tuple(corpus.ids),
            coding=self.coding,
            predictive=predictive if f.shape[1] else None,
        )

    def _labels(self, predictive: Predictive, f, probabilities):
        """Decisions: the loss's own, or those that its probabilities, or the mean of y, speak for."""
        if not f.shape[1]:
            return None
        if type(self.loss).decide is Loss.decide:
            if probabilities is not None:
                return self.coding.choose(probabilities)
            if self.coding.task in ("real", "count"):
                return predictive.mean()
        return self.loss.decide(f, self.coding)

    def _covariates(self, corpus):
        """An array, or CSR where the corpus' are, in the model's order."""
        if not self.covariate_names:
            return None
        if self.encoder is not None:
            corpus = self.encoder.transform(corpus)
        if corpus.covariates is None:
            raise ValueError(
                f"the model was fitted with covariates ({', '.join(self.covariate_names)}), "
                "the documents have none"
            )
        found = tuple(corpus.covariate_names)
        if found == self.covariate_names:
            return corpus.covariates
        place = {name: i for i, name in enumerate(found)}
        missing = [name for name in self.covariate_names if name not in place]
        if missing:
            raise ValueError(
                f"the documents lack the covariate {missing[0]!r}; they have {', '.join(found) or 'none'}"
            )
        return corpus.covariates[:, [place[name] for name in self.covariate_names]]

    def _known(self, corpus) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Tokens in the model's words, sorted within each document; offsets; tokens left out."""
        if tuple(corpus.vocabulary) != self.vocabulary:
            corpus = corpus.with_vocabulary(self.vocabulary)
        words, offsets = corpus.words, corpus.offsets
        n_unknown = np.array(corpus.n_unknown, dtype=np.int64)
        usable = self._table.any(axis=1)
        if not usable.all():
            keep = usable[words]
            running = np.concatenate([[0], np.cumsum(keep)])
            kept = running[offsets]
            n_unknown += np.diff(offsets) - np.diff(kept)
            words, offsets = words[keep], kept
        longest = np.diff(offsets).max(initial=0)
        if longest > _LONGEST:
            raise ValueError(
                f"document {int(np.argmax(np.diff(offsets)))} has {longest} tokens, over the limit {_LONGEST}"
            )
        return np.ascontiguousarray(words, np.int32), np.ascontiguousarray(offsets, np.int64), n_unknown

    def _keys(self, words, offsets) -> np.ndarray:
        """The streams of documents: of model, seed and their sorted known words."""
        secret = hashlib.blake2b(f"{self.digest} {self.seed}".encode(), digest_size=32).digest()
        data = memoryview(words.astype("<i4", copy=False)).cast("B") if len(words) else b""
        edges = (offsets * 4).tolist()
        blake2b = hashlib.blake2b
        digests = [
            blake2b(data[a:b], digest_size=8, key=secret).digest()
            for a, b in pairwise(edges)
        ]
        return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)

    def _fold_in(self, words, offsets) -> np.ndarray:
        n_documents = len(offsets) - 1
        keys = self._keys(words, offsets)
        zbar = np.empty((n_documents, self.n_topics))
        for first in range(0, n_documents, _CHUNK):
            last = min(first + _CHUNK, n_documents)
            self._fold_in_some(words, offsets, keys, first, last, zbar)
        return zbar

    def _topic_draws(self, words, offsets, first: int, last: int) -> np.ndarray:
        """The topic proportions at the end of each restart, float64 (R, last - first, K).

        Those behind `_fold_in`'s mean, made again; the prior's mean where no word is known.
        """
        offsets = offsets[first : last + 1]
        words, offsets = words[offsets[0] : offsets[-1]], offsets - offsets[0]
        n = last - first
        drawn = np.zeros((self.restarts, n, self.n_topics), np.float32)
        zbar = np.empty((n, self.n_topics))
        self._fold_in_some(words, offsets, self._keys(words, offsets), 0, n, zbar, drawn)
        drawn = drawn.astype(float)
        drawn[:, np.diff(offsets) == 0] = self.alpha / self.alpha.sum()
        return drawn

    def _fold_in_some(self, words, offsets, keys, first, last, zbar, drawn=None) -> None:
        width = self._table.shape[1]
        alpha = np.zeros(width, np.float32)
        alpha[: self.n_topics] = self.alpha
        if drawn is None:
            drawn = np.empty((0, 0, self.n_topics), np.float32)
        _compiled.fold_in(
            words, offsets, self._table, alpha, keys, self.burn_in, self.passes, self.restarts, first, last,
            aligned((4, width), np.float32), np.empty(max(1, np.diff(offsets).max(initial=0)), np.int32),
            zbar, drawn,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Prediction:
    """What is predicted of D documents; row i is document i.

    Attributes
    ----------
    zbar : float64 (D, K)
        Topic proportions, the mean over kept passes; 0 for a document without known words.
    theta : float64 (D, K)
        The posterior mean of the topic distribution, (N_d zbar + alpha) / (N_d + sum of alpha): the
        prior's mean for a document without known words.
    f : float64 (D, C)
        Linear predictors, averaged over kept draws; of the prior's mean for such a document.
    labels : ndarray (D,) or (D, C), or None
        Decisions, in the type of the labels that the model was fitted with: the class of the largest
        probability where there are some; the mean of a real response, in the user's units.
    probabilities : float64 (D, classes), or None
        Where the loss has them, averaged over kept draws; one a class, or a label. They are scores, not
        probabilities to rely on, where `calibrated` is not True.
    n_known, n_unknown : int64 (D,)
        Tokens used, and tokens left out. Where `n_known` is 0 the prior speaks, not the document.
    ids : tuple of str
    coding : Coding
        Task and classes.
    predictive : Predictive, or None
        The distribution behind the labels.
    """

    zbar: np.ndarray
    theta: np.ndarray
    f: np.ndarray
    labels: np.ndarray | None
    probabilities: np.ndarray | None
    n_known: np.ndarray
    n_unknown: np.ndarray
    ids: tuple[str, ...] = field(repr=False)
    coding: Coding = field(repr=False)
    predictive: Predictive | None = field(default=None, repr=False)

    @property
    def calibrated(self) -> bool | None:
        """Whether probabilities and intervals are those of a likelihood; None where there are none."""
        return None if self.predictive is None else self.predictive.calibrated

    def interval(self, level: float = 0.9) -> np.ndarray:
        """Equal-tailed predictive intervals of real responses, float64 (D, C, 2), in the user's units.

        Parameters
        ----------
        level : float
            The probability inside, between 0 and 1.

        Returns
        -------
        ndarray
            Lower and upper ends: quantiles of the mixture of the loss's distribution over kept draws of
            weights and parameters, and over draws of the document's topics. The topics themselves are
            taken as known (their mean), and so are the covariates.

        Raises
        ------
        ValueError
            Where the responses are classes, or the loss is no likelihood.
        """
        if self.predictive is None:
            raise ValueError("these predictions have no intervals: no single model stands behind them")
        return self.predictive.interval(level)
