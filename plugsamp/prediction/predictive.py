"""The predictive distribution of documents: averages over kept draws of the loss's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import logsumexp

from plugsamp.checks import is_number
from plugsamp.losses.base import BoundLoss, Loss
from plugsamp.losses.coding import Coding
from plugsamp.prediction.features import DocumentFeatures

#: Pairs of a kept draw and a draw of the topics that a mixture has at least, where there are so many.
COMPONENTS = 64

#: Documents whose mixture is in memory at once.
_CHUNK = 2048

#: Relative width at which the search for a quantile ends, of the interval that it began with; of counts,
#: how near to the count.
_TOLERANCE, _NEAR_COUNT = 1e-10, 0.25

#: Halvings that a search may take: from 1 to the smallest number.
_ROUNDS = 1100


class Predictive:
    """What a model says of the responses of some documents.

    Means and class probabilities are averages over the kept draws of weights and loss parameters, at the
    mean topic proportions. The distribution of a real response is a mixture over those draws *and* over
    draws of the document's own topics, so it holds all that the model is uncertain of but the topics phi.

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
        See `plugsamp.prediction.inference.Predictor`.
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
        self.loss, self.eta, self.coding = loss, eta, coding
        self.topics, self.covariates, self.intercept = topics, covariates, intercept
        self.draw_topics = draw_topics
        self._intervals: dict[float, np.ndarray] = {}
        self.source, self.known = source, source != "estimate"
        self.bound = [BoundLoss(loss, {k: v[s] for k, v in parameters.items()}) for s in range(len(eta))]
        self.features = DocumentFeatures(topics, covariates, intercept)

    def f(self) -> np.ndarray:
        """The mean linear predictor, float64 (D, C)."""
        return self.features.times(self.eta.mean(axis=0))

    def probabilities(self) -> np.ndarray | None:
        """Class probabilities (D, classes), or None where the loss has none."""
        if not self.known:
            return None
        total = None
        for bound, eta in zip(self.bound, self.eta, strict=True):
            one = bound.probabilities(self.features.times(eta), self.coding)
            if one is None:
                return None
            total = one if total is None else total + one
        return total / len(self.eta)

    def mean(self) -> np.ndarray:
        """E[y], float64 (D, C), in the user's units."""
        if not self.known:
            return self.coding.restore(self.f())
        total = 0.0
        for bound, eta in zip(self.bound, self.eta, strict=True):
            total = total + bound.mean(self.features.times(eta))
        return self.coding.restore(total / len(self.eta))

    @property
    def calibrated(self) -> bool | None:
        """Whether probabilities or intervals are those of a likelihood; None where there are neither."""
        if not self.known:
            return None
        example = np.zeros((1, self.coding.n_outputs))
        bound = self.bound[0]
        if self.coding.task in ("real", "count"):
            found = bound.cdf(example, example)
        else:
            found = bound.probabilities(example, self.coding)
        return None if found is None else self.source == "posterior" and bool(self.loss.calibrated)

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
        out = np.empty((len(self.topics), self.coding.n_outputs, 2))
        for rows, parts in self._mixtures():
            for side, p in enumerate((0.5 - 0.5 * level, 0.5 + 0.5 * level)):
                out[rows, :, side] = self._restored(_quantile(parts, p, self.coding.task == "count"))
        return out

    def log_density(self, responses) -> np.ndarray:
        """log p(y) of responses (D, C) in the user's units, NaN where they are."""
        scale = 1.0 if self.coding.scale is None else self.coding.scale
        center = 0.0 if self.coding.center is None else self.coding.center
        y = (responses - center) / scale
        out = np.empty(y.shape)
        for rows, parts in self._mixtures():
            logs = [bound.log_psi(_repeat(y[rows], len(f)), _flat(f)).reshape(f.shape) for bound, f in parts]
            logs = np.concatenate(logs)
            out[rows] = logsumexp(logs, axis=0) - np.log(len(logs)) - np.log(scale)
        return out

    def _restored(self, y):
        y = self.coding.restore(y)
        return np.rint(y) if self.coding.task == "count" else y

    def _mixtures(self) -> Iterator[tuple[slice, list]]:
        """Of some documents at a time, [(loss with the parameters of a draw, f (components, n, C))]."""
        n_documents = len(self.topics)
        for first in range(0, n_documents, _CHUNK):
            rows = slice(first, min(first + _CHUNK, n_documents))
            drawn = self.draw_topics(rows.start, rows.stop)
            covariates = None if self.covariates is None else self.covariates[rows]
            features = [DocumentFeatures(topics, covariates, self.intercept) for topics in drawn]
            n_draws, n_topics = len(self.eta), len(features)
            rounds = min(n_topics, -(-COMPONENTS // n_draws))
            parts = []
            for s, (bound, eta) in enumerate(zip(self.bound, self.eta, strict=True)):
                chosen = [(s + q) % n_topics for q in range(rounds)]
                parts.append((bound, np.array([features[r].times(eta) for r in chosen])))
            yield rows, parts


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
