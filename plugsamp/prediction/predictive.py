"""The predictive distribution of documents: averages over kept draws of the loss's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import logsumexp, softmax

from plugsamp.checks import is_number
from plugsamp.losses.base import BoundLoss, Loss
from plugsamp.losses.coding import Coding
from plugsamp.prediction.features import DocumentFeatures
from plugsamp.system import cores

#: Pairs of a kept draw and a draw of the topics that a mixture has at least, where there are so many.
COMPONENTS, MOST_COMPONENTS = 64, 256

#: Topics times outputs up to which it has the larger number.
_CHEAP = 512

#: Documents whose mixture is in memory at once.
_CHUNK = 64

#: Between draws of the topics that are taken in turn, so that a few come from different chains and passes.
_STRIDE = 37

#: Sums of probabilities up to this size are taken from logarithms.
_TINY = 1e-290

#: Relative width at which the search for a quantile ends, of the interval that it began with; of counts,
#: how near to the count.
_TOLERANCE, _NEAR_COUNT = 1e-10, 0.25

#: Halvings that a search may take: from 1 to the smallest number.
_ROUNDS = 1100


class Mixture:
    """The distribution of the responses of some documents, as a mixture of the loss's own.

    Everything is computed from the components that `mixtures` gives. A component is a kept draw of weights
    and loss parameters, together with a draw of the documents' topics. So the distribution holds all that the
    model is uncertain of, except for the topics' words phi and the covariates.

    Parameters
    ----------
    loss : Loss
    coding : Coding
    source : {"posterior", "weighted", "estimate"}
        See `plugsamp.posterior.draws.Draws`.
    n_documents : int
    """

    def __init__(self, loss: Loss, coding: Coding, source: str, n_documents: int):
        self.loss, self.coding, self.source, self.n_documents = loss, coding, source, n_documents
        self.known = source != "estimate"
        self._intervals: dict[float, np.ndarray] = {}

    def mixtures(self) -> Iterator[tuple[slice, list]]:
        """Yield for some documents at a time their rows and components.

        Components are a list of pairs: the loss bound to the parameters of a draw, and linear predictors
        f, float64 (components, documents, C). All components have the same weight.
        """
        raise NotImplementedError

    def example(self) -> BoundLoss:
        """The loss with the parameters of one draw."""
        raise NotImplementedError

    def probabilities(self) -> np.ndarray | None:
        """Return class probabilities (D, classes), or None where the loss has none.

        They are means over the mixture. Where each class has a binary model of its own (`Loss.positive`),
        each P(class) is the mean of its model's, and a document's are divided by their sum.
        """
        if not self.known or self._probabilities_at(np.zeros((1, self.coding.n_outputs))) is None:
            return None
        out = np.empty((self.n_documents, len(self.coding.classes)))
        for rows, parts in self.mixtures():
            out[rows] = class_probabilities(parts, self.coding)
        return out

    def mean(self) -> np.ndarray:
        """E[y], float64 (D, C), in the user's units."""
        out = np.empty((self.n_documents, self.coding.n_outputs))
        for rows, parts in self.mixtures():
            total, n = 0.0, 0
            for bound, f in parts:
                total = total + bound.mean(_flat(f)).reshape(f.shape).sum(axis=0)
                n += len(f)
            out[rows] = total / n
        return self.coding.restore(out)

    @property
    def calibrated(self) -> bool | None:
        """Whether probabilities or intervals can be relied on; None where there are neither.

        They can where they are those of one likelihood of all classes.
        """
        if not self.known:
            return None
        example = np.zeros((1, self.coding.n_outputs))
        if self.coding.task in ("real", "count"):
            found = self.example().cdf(example, example)
        else:
            found = self._probabilities_at(example)
        if found is None:
            return None
        return self.likelihood and bool(self.loss.calibrated_for(self.coding))

    @property
    def likelihood(self) -> bool:
        """Whether the loss is a likelihood and the draws are those of its posterior."""
        return self.source == "posterior" and bool(self.loss.calibrated)

    def _probabilities_at(self, f):
        return self.example().probabilities(f, self.coding)

    def interval(self, level: float) -> np.ndarray:
        """Equal-tailed intervals, float64 (D, C, 2); as of `plugsamp.prediction.results.Prediction`."""
        if not (is_number(level) and 0 < level < 1):
            raise ValueError(f"level must lie between 0 and 1, not {level!r}")
        if self.coding.task not in ("real", "count"):
            raise ValueError(
                f"intervals are for real responses, these are {self.coding.task}: see probabilities"
            )
        if not self.calibrated:
            why = "it is no likelihood of a real response"
            if self.calibrated is False:
                why = "it has a cdf, and does not say `calibrated = True`, that it is a likelihood"
            raise ValueError(f"{self.loss!r} gives no intervals: {why}")
        if level not in self._intervals:
            self._intervals[level] = self._interval(level)
        return self._intervals[level].copy()

    def _interval(self, level: float) -> np.ndarray:
        out = np.empty((self.n_documents, self.coding.n_outputs, 2))
        for rows, parts in self.mixtures():
            for side, p in enumerate((0.5 - 0.5 * level, 0.5 + 0.5 * level)):
                out[rows, :, side] = self._restored(_quantile(parts, p, self.coding.task == "count"))
        return out

    def log_density(self, responses) -> np.ndarray:
        """log p(y) of responses (D, C) in the user's units, NaN where they are."""
        scale = 1.0 if self.coding.scale is None else self.coding.scale
        center = 0.0 if self.coding.center is None else self.coding.center
        y = (responses - center) / scale
        out = np.empty(y.shape)
        for rows, parts in self.mixtures():
            logs = [bound.log_psi(_repeat(y[rows], len(f)), _flat(f)).reshape(f.shape) for bound, f in parts]
            logs = np.concatenate(logs)
            out[rows] = logsumexp(logs, axis=0) - np.log(len(logs)) - np.log(scale)
        return out

    def _restored(self, y):
        y = self.coding.restore(y)
        return np.rint(y) if self.coding.task == "count" else y


class Predictive(Mixture):
    """What a model says of the responses of some documents: a mixture over its kept draws.

    Parameters
    ----------
    loss : Loss
    eta : float64 (S, C, J)
    parameters : dict of arrays (S, C, ...)
    coding : Coding
    topics : float64 (D, K)
        Mean proportions.
    covariates : (D, P) or CSR, or None
    intercept : bool
    draw_topics : callable (first, last) -> float64 (R, last - first, K)
        Draws of the proportions of documents first:last, the same at each call.
    source : {"posterior", "weighted", "estimate"}
        See `plugsamp.posterior.draws.Draws`.
    """

    def __init__(
        self,
        loss: Loss,
        eta: np.ndarray,
        parameters: dict[str, np.ndarray],
        coding: Coding,
        topics: np.ndarray,
        covariates,
        intercept: bool,
        draw_topics: Callable[[int, int], np.ndarray],
        source: str,
    ):
        super().__init__(loss, coding, source, len(topics))
        self.eta, self.topics, self.covariates, self.intercept = eta, topics, covariates, intercept
        self.draw_topics = draw_topics
        self.bound = [BoundLoss(loss, {k: v[s] for k, v in parameters.items()}) for s in range(len(eta))]

    def f(self) -> np.ndarray:
        """The mean linear predictor, float64 (D, C)."""
        return DocumentFeatures(self.topics, self.covariates, self.intercept).times(self.eta.mean(axis=0))

    def mean(self) -> np.ndarray:
        linear = type(self.loss).mean is Loss.mean
        return super().mean() if self.known and not linear else self.coding.restore(self.f())

    def example(self) -> BoundLoss:
        return self.bound[0]

    def _wanted(self) -> int:
        """Components: more where they are cheap."""
        cheap = self.eta.shape[1] * self.topics.shape[1] <= _CHEAP
        return MOST_COMPONENTS if cheap else COMPONENTS

    def mixtures(self) -> Iterator[tuple[slice, list]]:
        n = self.n_documents
        chunks = [slice(first, min(first + _CHUNK, n)) for first in range(0, n, _CHUNK)]
        draws = cores.in_threads(lambda rows: self.draw_topics(rows.start, rows.stop), chunks)
        for rows, drawn in zip(chunks, draws, strict=True):
            covariates = None if self.covariates is None else self.covariates[rows]
            n_documents = rows.stop - rows.start
            no_topics = np.zeros((n_documents, self.topics.shape[1]))
            fixed = DocumentFeatures(no_topics, covariates, self.intercept)
            n_draws, n_topics = len(self.eta), len(drawn)
            rounds = min(n_topics, -(-self._wanted() // n_draws))
            parts = []
            for s, (bound, eta) in enumerate(zip(self.bound, self.eta, strict=True)):
                chosen = (s * rounds + np.arange(rounds)) * _STRIDE % n_topics
                flat = drawn[chosen].reshape(-1, drawn.shape[2])
                f = DocumentFeatures(flat).times(eta[:, : drawn.shape[2]]).reshape(rounds, n_documents, -1)
                parts.append((bound, f + fixed.times(eta)))
            yield rows, parts


class Joined(Mixture):
    """Several chains' distributions of the same documents as one: the mixture over all their draws.

    Parameters
    ----------
    members : list of Mixture
        Of the same loss, coding and documents.
    """

    def __init__(self, members: list[Mixture]):
        sources = {member.source for member in members}
        first = members[0]
        source = next((s for s in ("estimate", "weighted") if s in sources), "posterior")
        super().__init__(first.loss, first.coding, source, first.n_documents)
        self.members = members

    def example(self) -> BoundLoss:
        return self.members[0].example()

    def mean(self) -> np.ndarray:
        return np.mean([member.mean() for member in self.members], axis=0)

    def mixtures(self) -> Iterator[tuple[slice, list]]:
        for found in zip(*(member.mixtures() for member in self.members), strict=True):
            yield found[0][0], [part for _, parts in found for part in parts]


def class_probabilities(parts, coding: Coding) -> np.ndarray:
    """Class probabilities (n, classes) of a mixture whose components are `parts` (see `Mixture.mixtures`).

    Those of binary models, one a class, are averaged over the components and then divided by their sum:
    each estimates P(class) by itself.
    """
    separate = coding.task == "multiclass" and parts[0][0].positive(parts[0][1][0]) is not None
    total, n = 0.0, 0
    for bound, f in parts:
        flat = _flat(f)
        one = bound.positive(flat) if separate else bound.probabilities(flat, coding)
        total = total + one.reshape(len(f), -1, one.shape[-1]).sum(axis=0)
        n += len(f)
    if not separate:
        return total / n
    sums = total.sum(axis=1, keepdims=True)
    p = total / np.maximum(sums, _TINY)
    far = sums[:, 0] <= _TINY
    if far.any():  # every class is out of sight; logarithms still tell which is nearest
        logs = [bound.log_psi(np.ones_like(_flat(f[:, far])), _flat(f[:, far])) for bound, f in parts]
        logs = np.concatenate([one.reshape(-1, far.sum(), one.shape[-1]) for one in logs])
        p[far] = softmax(logsumexp(logs, axis=0), axis=1)
    return p


def _flat(f):
    return f.reshape(-1, f.shape[-1])


def _repeat(y, n: int):
    return np.tile(y, (n, 1))


def _mixture_cdf(parts, y) -> np.ndarray:
    total, n = np.zeros(y.shape), 0
    for bound, f in parts:
        total += bound.cdf(_repeat(y, len(f)), _flat(f)).reshape(f.shape).sum(axis=0)
        n += len(f)
    return total / n


def _quantile(parts, p: float, count: bool) -> np.ndarray:
    """The smallest y with cdf(y) >= p, (n, C), by bisection; each value on its own, whatever the others."""
    center = np.mean([bound.mean(f[0]) for bound, f in parts], axis=0)
    low, high = center - 1.0, center + 1.0
    for sign, edge in ((-1.0, low), (1.0, high)):
        width = 1.0
        for _ in range(200):  # to 1e60: a distribution function that never gets there is not hung on
            below = _mixture_cdf(parts, edge) < p
            outside = ~below if sign < 0 else below
            if not outside.any():
                break
            width *= 2.0
            edge[outside] += sign * width
    # Each element for itself, whatever else is in the batch, and never beyond what floating point can tell.
    limit, near = _TOLERANCE * (high - low), 10.0 * _TOLERANCE * min(p, 1.0 - p)
    at_low, at_high = np.zeros(low.shape), np.ones(low.shape)
    for _ in range(_ROUNDS):
        middle = 0.5 * (low + high)
        between = (low < middle) & (middle < high)
        going = between & ((high - low > limit) | (at_high - at_low > near))
        if count:
            going &= high - low > _NEAR_COUNT
        if not going.any():
            break
        value = _mixture_cdf(parts, middle)
        up, down = going & (value < p), going & (value >= p)
        low, at_low = np.where(up, middle, low), np.where(up, value, at_low)
        high, at_high = np.where(down, middle, high), np.where(down, value, at_high)
    return high
