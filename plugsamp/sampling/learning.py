"""Learning the Dirichlet priors alpha and beta from the counts.

By slice sampling (Neal 2003) with a gamma prior on each: part of the posterior, exact. Or by the fixed
point of Minka (2000): the maximum likelihood given the present counts, fast and empirical Bayes, so the
chain's distribution is no longer the posterior of a fixed model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammaln

from plugsamp.random.draws import Purpose, stream
from plugsamp.topics.concentration import Concentration

#: Values are kept within these: the limits of priors.
SMALLEST, LARGEST = 1e-6, 1e6

#: Width of a slice on the log scale, and how often it may be stepped out and shrunk.
_WIDTH, _STEPS, _SHRINKS = 0.5, 20, 200

#: Fixed-point iterations a sweep; the counts change before it converges.
_ITERATIONS = 5


@dataclass(frozen=True)
class Rows:
    """Counts of Dirichlet-multinomial rows, as far as they tell of one parameter.

    Attributes
    ----------
    values, times : arrays
        The different counts above 0 and how often each occurs; ``bases`` is what each has beside the
        parameter (pseudo-counts), or 0.
    """

    values: np.ndarray
    times: np.ndarray
    bases: np.ndarray | float = 0.0

    @classmethod
    def of(cls, counts) -> Rows:
        counts = np.asarray(counts).reshape(-1)
        times = np.bincount(counts[counts > 0])
        values = np.flatnonzero(times)
        return cls(values.astype(float), times[values].astype(float))

    def log_rising(self, a: float) -> float:
        """sum of log Γ(n + a) - log Γ(a)."""
        a = self.bases + a
        return float(self.times @ (gammaln(self.values + a) - gammaln(a)))

    def slope(self, a: float) -> float:
        """The derivative of `log_rising`."""
        a = self.bases + a
        return float(self.times @ (digamma(self.values + a) - digamma(a)))


def draw_priors(state, model, seed: int, sweep: int) -> None:
    """alpha and beta of a chain's state given its counts, where they are learnt and it is their turn.

    Topics that are a variable of the chain are integrated out, and so are to be drawn next.
    """
    if model.learn_alpha.due(sweep):
        rng = stream(seed, Purpose.CONCENTRATION, sweep, 0)
        lengths = np.diff(state.offsets)
        alpha = update_alpha(model.learn_alpha, state.alpha_prior, state.doc_topic(), lengths, rng)
        state.set_priors(alpha=alpha)
    if model.learn_beta.due(sweep):
        rng = stream(seed, Purpose.CONCENTRATION, sweep, 1)
        cells, topics = word_rows(state)
        beta = update_beta(model.learn_beta, float(state.beta_prior[0]), cells, topics, state.n_words, rng)
        state.set_priors(beta=np.full(state.n_words, beta))


def update_alpha(concentration: Concentration, alpha, doc_topic, lengths, rng) -> np.ndarray:
    """New alpha (K,) given n_dk.

    Parameters
    ----------
    concentration : Concentration
    alpha : float64 (K,)
    doc_topic : tuple (indptr, topics, counts)
    lengths : int (D,)
    rng : numpy.random.Generator
    """
    _, topics, counts = doc_topic
    documents = Rows.of(lengths)
    if concentration.symmetric:
        cells, n = Rows.of(counts), len(alpha)
        value = _update(
            concentration, alpha[0], rng,
            lambda a: cells.log_rising(a) - documents.log_rising(n * a),
            lambda a: cells.slope(a) / (n * documents.slope(n * a)),
        )  # fmt: skip
        return np.full(n, value)
    by_topic = [Rows.of(part) for part in _split(topics, counts, len(alpha))]
    alpha = alpha.copy()
    if concentration.method == "fixed_point":
        for _ in range(_ITERATIONS):
            slope = documents.slope(alpha.sum())
            if slope <= 0:  # no tokens
                break
            factors = np.array([rows.slope(a) for rows, a in zip(by_topic, alpha, strict=True)]) / slope
            alpha = np.clip(alpha * factors, SMALLEST, LARGEST)
        return alpha
    total = alpha.sum()
    for k, rows in enumerate(by_topic):
        others = total - alpha[k]
        alpha[k] = _slice(
            alpha[k], rng, concentration,
            lambda a, rows=rows, others=others: rows.log_rising(a) - documents.log_rising(others + a),
        )  # fmt: skip
        total = alpha.sum()
    return alpha


def update_beta(concentration: Concentration, beta: float, cells: Rows, topics: Rows, n_words: int, rng):
    """The new value of a symmetric beta, given counts of cells and of topics."""
    return _update(
        concentration, beta, rng,
        lambda b: cells.log_rising(b) - topics.log_rising(n_words * b),
        lambda b: cells.slope(b) / (n_words * topics.slope(n_words * b)),
    )  # fmt: skip


def word_rows(state) -> tuple[Rows, Rows]:
    """n_kw and n_k as `update_beta` needs them; pseudo-counts are no data, but part of the prior."""
    counts = state.topic_word[:, : state.n_topics]
    totals = state.topic_totals[: state.n_topics]
    if not len(state.pseudo_words):
        return Rows.of(counts), Rows.of(totals)
    table, pseudo_totals = state.pseudo_counts()
    counts = counts.copy()
    word, topic = table.nonzero()
    pseudo = table.data
    seeded = counts[word, topic] - pseudo
    counts[word, topic] = 0
    plain = Rows.of(counts)
    cells = Rows(
        np.concatenate([plain.values, seeded]),
        np.concatenate([plain.times, np.ones(len(seeded))]),
        np.concatenate([np.zeros(len(plain.values)), pseudo]),
    )
    bases = pseudo_totals.astype(float)
    return cells, Rows(totals - bases, np.ones(len(totals)), bases)


def _split(topics, counts, n_topics: int) -> list[np.ndarray]:
    order = np.argsort(topics, kind="stable")
    edges = np.cumsum(np.bincount(topics, minlength=n_topics))[:-1]
    return np.split(counts[order], edges)


def _update(concentration, value, rng, log_density, factor) -> float:
    if concentration.method == "slice":
        return _slice(value, rng, concentration, log_density)
    for _ in range(_ITERATIONS):
        with np.errstate(divide="ignore", invalid="ignore"):
            new = value * np.float64(factor(value))
        if not np.isfinite(new):  # no tokens
            break
        value = float(np.clip(new, SMALLEST, LARGEST))
    return value


def _slice(value: float, rng, concentration: Concentration, log_likelihood) -> float:
    """One slice-sampling update of a positive parameter, on the log scale (Neal 2003, stepping out)."""

    def log_density(x):  # the gamma prior, with the Jacobian of the log
        a = np.exp(x)
        return log_likelihood(a) + concentration.shape * x - concentration.rate * a

    least, most = np.log(SMALLEST), np.log(LARGEST)
    x = float(np.clip(np.log(value), least, most))
    level = log_density(x) - rng.standard_exponential()
    left = x - _WIDTH * rng.random()
    right = left + _WIDTH
    # Steps to either side are limited together, or the update is not reversible (Neal, section 4).
    to_left = int(rng.integers(_STEPS))
    to_right = _STEPS - 1 - to_left
    while to_left > 0 and left > least and log_density(left) > level:
        left -= _WIDTH
        to_left -= 1
    while to_right > 0 and right < most and log_density(right) > level:
        right += _WIDTH
        to_right -= 1
    left, right = max(left, least), min(right, most)
    for _ in range(_SHRINKS):
        new = left + (right - left) * rng.random()
        if log_density(new) > level:
            return float(np.exp(new))
        if new < x:
            left = new
        else:
            right = new
    return value
