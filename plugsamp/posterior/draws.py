"""The kept draws of one chain, and prediction of new documents from them (model.md section 7)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from plugsamp.checks import MOST, names_of, whole
from plugsamp.corpus import Corpus
from plugsamp.covariates.encoder import Encoder
from plugsamp.losses.base import Loss
from plugsamp.losses.coding import Coding
from plugsamp.posterior.names import topic_key
from plugsamp.posterior.trace import Trace
from plugsamp.prediction.fold_in import BURN_IN, PASSES, RESTARTS, FoldIn, Tokens
from plugsamp.prediction.matching import warn_of_strangers
from plugsamp.prediction.predictive import Mixture, Predictive
from plugsamp.prediction.results import Prediction

#: Where weights come from: draws of the posterior of the loss's likelihood, of one with weights of documents
#: or classes in it, or an estimate made some other way.
SOURCES = ("posterior", "weighted", "estimate")

#: Passes over a document, of all its chains together: more make no estimate better, and one model file could
#: keep a machine busy for years.
MOST_PASSES = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Draws:
    """The kept draws of one chain, all that prediction needs, and what is known of the chain. Immutable.

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
        Gibbs passes over a new document at least, and how many of them are left out of the average. A
        document that has not settled gets more.
    restarts : int
        Independent chains over each document, averaged: with many topics one chain stays in one mode of
        the document's posterior. Chains run in groups of 16, so it is rounded up to a multiple of 16.
    seed : int
    encoder : Encoder, optional
        Makes the covariates of documents from their columns and words.
    parameters : dict of float64 arrays (S, C, ...)
        The kept draws of the loss's own parameters, by name.
    variances : dict of float64 arrays (S, C) or (S, 1)
        The kept draws of the variances of the weights by group, of a prior that draws them; of all outputs
        together (S, 1). No prediction uses them, nor has `digest` them.
    source : {"posterior", "weighted", "estimate"}
        Where the weights come from. Of a posterior with weights of documents or classes in it,
        probabilities are scores, whatever the loss; of an estimate there are labels alone.
    number : int or None
        Its place among the parts of a posterior; None of one that is alone.
    name : str
        Of a chain "chain 1", of a binary model what it tells apart; "" of one that is alone.
    user_coding : Coding
        Task and classes as the user has them; of a binary model what its two sides are called. By default
        `coding`.
    columns : slice
        Its topics among those of a prediction.
    chain : int or None
        Its place among several chains, of one that is shown for all.
    trace : Trace
        A row a sweep; empty where that is not known.
    kept : sequence of int
        The sweeps whose draws are kept; empty where that is not known.
    stats : dict of str to arrays (K,), or None
        What is known of its topics (`plugsamp.diagnostics.topic_table`).
    seconds : float
        Of the start and of sampling.
    n_tokens : int
        Sampled in a sweep.
    approximations : tuple of str
        What kept the chain from its posterior, a clause each.

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
    variances: dict[str, np.ndarray] = field(default_factory=dict)
    source: str = "posterior"
    number: int | None = None
    name: str = ""
    user_coding: Coding | None = None
    columns: slice = field(default_factory=lambda: slice(0, None))
    chain: int | None = None
    trace: Trace = field(default_factory=Trace)
    kept: Sequence[int] = ()
    stats: dict | None = None
    seconds: float = 0.0
    n_tokens: int = 0
    approximations: tuple[str, ...] = ()

    def __post_init__(self):
        if self.source not in SOURCES:
            raise ValueError(f"draws: source must be one of {', '.join(SOURCES)}, not {self.source!r}")
        # Word-major in memory: the order of the compiled loop.
        phi = np.array(np.asarray(self.phi, dtype=np.float32).T, order="C").T
        eta, alpha = _own(self.eta), np.array(self.alpha, dtype=float)
        parameters, variances = (
            {name: np.array(values, dtype=float) for name, values in sorted(given.items())}
            for given in (self.parameters, self.variances)
        )
        for name, array in ({"phi": phi, "eta": eta, "alpha": alpha} | parameters | variances).items():
            if not np.isfinite(array).all():
                raise ValueError(f"draws: {name} holds a number that is not finite")
            array.flags.writeable = False
        for name, value in (("phi", phi), ("eta", eta), ("alpha", alpha)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "parameters", parameters)
        object.__setattr__(self, "variances", variances)
        n_outputs = self.coding.n_outputs
        object.__setattr__(self, "coding", replace(self.coding, y=np.empty((0, n_outputs))))
        object.__setattr__(self, "user_coding", self.user_coding or self.coding)
        for name in ("vocabulary", "covariate_names"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        n_topics = len(alpha)
        if phi.shape != (n_topics, len(self.vocabulary)):
            raise ValueError(
                f"draws: phi of shape {phi.shape} for {n_topics} topics and {len(self.vocabulary)} words"
            )
        width = n_topics + len(self.covariate_names) + self.intercept
        fits = eta.ndim == 3 and len(eta) > 0 and eta.shape[1] == n_outputs
        if not fits or (n_outputs and eta.shape[2] != width):
            raise ValueError(
                f"draws: eta of shape {eta.shape}, expected (draws, {n_outputs}, {width}) "
                f"for {n_topics} topics, {len(self.covariate_names)} covariates, intercept {self.intercept}"
            )
        self._check_parameters()
        for name in ("passes", "burn_in", "restarts", "seed"):
            least, most = int(name == "restarts"), None if name == "seed" else MOST
            object.__setattr__(self, name, whole(f"draws: {name}", getattr(self, name), least, most))
        # The first pass draws from expected counts, not from the chain, so it is never kept.
        if not 1 <= self.burn_in < self.passes:
            raise ValueError(
                f"draws: burn_in must be 1 or more and below passes, "
                f"not {self.burn_in} of {self.passes} passes"
            )

        if self.passes * self.restarts > MOST_PASSES:
            raise ValueError(
                f"draws: passes={self.passes} times restarts={self.restarts} are over {MOST_PASSES:,} "
                "passes over each document"
            )

    def _check_parameters(self) -> None:
        for name, found in self.variances.items():
            if found.shape not in ((len(self.eta), 1), self.eta.shape[:2]):
                raise ValueError(f"draws: variances of {name} are {found.shape}, and eta is {self.eta.shape}")
        if self.source == "estimate" and not self.parameters:
            return
        expected = self.loss.start(self.coding.n_outputs)
        if set(expected) != set(self.parameters):
            raise ValueError(
                f"draws: {self.loss!r} has the parameters {', '.join(sorted(expected)) or 'none'}, "
                f"given are {', '.join(self.parameters) or 'none'}"
            )
        for name, found in self.parameters.items():
            shape = (len(self.eta), *np.shape(expected[name]))
            if found.shape != shape:
                raise ValueError(
                    f"draws: parameter {name} of shape {found.shape}, expected {shape}, a value a draw"
                )

    def with_options(self, **options) -> Draws:
        """The same model with other `passes`, `burn_in`, `restarts`, `seed` or `vocabulary`.

        Words are other names for the columns of counts that the model was fitted to, in their order.
        """
        valid = ("passes", "burn_in", "restarts", "seed", "vocabulary")
        unknown = sorted(set(options) - set(valid))
        if unknown:
            raise ValueError(f"draws: {unknown[0]!r} is not one of {', '.join(valid)}")
        if "vocabulary" in options:
            if self.encoder is not None:
                raise ValueError("draws: covariates are made of its words, whose names stay")
            options["vocabulary"] = names_of(
                options["vocabulary"], len(self.vocabulary), "vocabulary", "word", "words of the model"
            )
        return replace(self, **options)

    def with_record(self, **record) -> Draws:
        """Return the same draws with another name, number, trace or other record that no prediction uses."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__ | record)
        return new

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        return f"Draws({name}{self.n_topics} topics, {len(self.eta)} kept draws, {len(self.trace)} sweeps)"

    @property
    def n_topics(self) -> int:
        return len(self.alpha)

    @property
    def parts(self) -> tuple[Draws]:
        """Itself alone, as a posterior has its parts."""
        return (self,)

    @property
    def predictor(self) -> Draws:
        """Itself: draws were an attribute of a part before."""
        return self

    def key(self, topic: int) -> str:
        """Return what a topic is called in files."""
        return topic_key(self.chain if self.number is None else self.number, topic)

    @property
    def outputs(self) -> list[str]:
        """What a positive linear predictor of each output speaks for."""
        return [] if self.coding.task == "none" else self.user_coding.output_names

    @property
    def weights(self) -> np.ndarray:
        """Draws of the weights, float64 (S, C, J); of two classes with an output each the difference."""
        if self.user_coding.task == "binary" and self.eta.shape[1] == 2:
            return self.eta[:, 1:] - self.eta[:, :1]
        return self.eta

    @cached_property
    def digest(self) -> str:
        """SHA-256 of topics, weights, loss parameters, prior, vocabulary and units, in hex."""
        h = hashlib.sha256(b"plugsamp predictor 1")
        for array, kind in ((self.phi.T, "<f4"), (self.eta, "<f8"), (self.alpha, "<f8")):
            _hash_array(h, array, kind)
        for names in (self.vocabulary, self.covariate_names):
            _hash_names(h, names)
        if self.encoder is not None:
            h.update(self.encoder.digest.encode())
        # Only what there is, so that models without them keep the digest that they were saved with.
        extra = {f"parameter {name}": v for name, v in self.parameters.items()}
        extra |= {"center": self.coding.center, "scale": self.coding.scale}
        if self.source != "posterior":
            h.update(self.source.encode())
        if self.coding.order is not None:
            h.update(f"order {self.coding.order}".encode())
        for name, array in extra.items():
            if array is not None:
                h.update(f"{name} {array.shape}".encode())
                h.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
        return h.hexdigest()

    @cached_property
    def topics_digest(self) -> str:
        """SHA-256 of topics and vocabulary alone, in hex: the same whatever is done with the weights."""
        h = hashlib.sha256(b"plugsamp topics 1")
        _hash_array(h, self.phi.T, "<f4")
        _hash_names(h, self.vocabulary)
        return h.hexdigest()

    def covariates_of(self, corpus):
        """Return the covariates of documents (D, P), an array or CSR, in the model's order, or None."""
        return self._covariates(corpus if self.encoder is None else self.encoder.transform(corpus))

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
                "ps.Corpus.from_counts(X, vocabulary=...) makes one of a count matrix, "
                "ps.Corpus.from_frame(frame, text=...) of texts"
            )
        encoded = corpus if self.encoder is None else self.encoder.transform(corpus)
        prediction = self.predict_encoded(encoded)
        warn_of_strangers(prediction.n_known, prediction.n_unknown, corpus.vocabulary, self.vocabulary)
        return prediction

    def predict_encoded(self, corpus) -> Prediction:
        """`predict` of documents whose covariates the encoder has made already."""
        return self.decided(*self.folded(corpus))

    def folded(self, corpus) -> tuple[Tokens, np.ndarray, Predictive]:
        """Return known tokens, mean topic proportions (D, K) and the distribution of the responses."""
        covariates = self._covariates(corpus)
        fold_in = self.fold_in
        tokens = fold_in.tokens(corpus)
        zbar = fold_in.zbar(tokens)
        # A document without a known token has nothing to say: its features are the prior's mean.
        topics = np.where(tokens.lengths[:, None] > 0, zbar, fold_in.prior_mean)
        predictive = Predictive(
            self.loss, self.eta, self.parameters, self.coding, topics, covariates, self.intercept,
            lambda first, last: fold_in.draws(tokens, first, last), self.source,
        )  # fmt: skip
        return replace(tokens, ids=tuple(corpus.ids)), zbar, predictive

    def decided(self, tokens: Tokens, zbar, predictive: Predictive, decide: bool = True) -> Prediction:
        """Return what is predicted of folded documents; without labels and probabilities unless `decide`."""
        n_known, f = tokens.lengths, predictive.f()
        responses = f.shape[1] > 0
        probabilities = predictive.probabilities() if responses and decide else None
        return Prediction(
            zbar=zbar,
            theta=(zbar * n_known[:, None] + self.alpha) / (n_known + self.alpha.sum())[:, None],
            f=f,
            labels=decisions(predictive, f, probabilities) if decide else None,
            probabilities=probabilities,
            calibrated=predictive.calibrated if responses else None,
            n_known=n_known,
            n_unknown=tokens.n_unknown,
            ids=tokens.ids,
            coding=self.coding,
            predictive=predictive if responses else None,
            likelihood=probabilities is not None and predictive.likelihood,
        )

    def _covariates(self, corpus):
        """An array, or CSR where the corpus' are, in the model's order."""
        if not self.covariate_names:
            return None
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

    @cached_property
    def fold_in(self) -> FoldIn:
        """Topics of new documents."""
        secret = f"{self.digest} {self.seed}"
        return FoldIn(self.phi, self.alpha, self.vocabulary, self.passes, self.burn_in, self.restarts, secret)


def decisions(predictive: Mixture, f, probabilities):
    """Labels by the probabilities where there are some, else the mean of y or the loss's decision.

    Parameters
    ----------
    predictive : Mixture
    f : float64 (D, C)
        Mean linear predictors.
    probabilities : float64 (D, classes), or None
    """
    loss, coding = predictive.loss, predictive.coding
    if not f.shape[1]:
        return None
    if probabilities is not None:
        return coding.choose(probabilities)
    if type(loss).decide is Loss.decide and coding.task in ("real", "count"):
        return predictive.mean()
    return loss.decide(f, coding)


def _own(values) -> np.ndarray:
    """Numbers that nobody else changes: a read-only array is taken as it is, since it may be large."""
    if isinstance(values, np.ndarray) and values.dtype == float and not values.flags.writeable:
        return values
    return np.array(values, dtype=float)


def _hash_array(h, array, kind: str) -> None:
    h.update(repr(array.shape).encode())
    h.update(np.ascontiguousarray(array, dtype=kind).reshape(-1).view(np.uint8))


def _hash_names(h, names) -> None:
    for name in names:
        data = name.encode("utf-8", "surrogatepass")
        h.update(len(data).to_bytes(8, "little") + data)
    h.update(b"end")
