"""Words of a topic, ranked: by probability, by relevance, or by FREX.

Sievert & Shirley (2014), "LDAvis: a method for visualizing and interpreting topics", section 3.1, define
relevance. Bischof & Airoldi (2012), "Summarizing topical content with word frequency and exclusivity",
section 3.3, define FREX.
"""

from __future__ import annotations

import numpy as np

#: The ways to rank words, and the one that people are shown.
RANKINGS = ("relevance", "probability", "frex")
DEFAULT = "relevance"

#: The weight of log probability in relevance (the best one in the study of users by Sievert & Shirley),
#: and that of exclusivity in FREX.
LAMBDA, FREX_WEIGHT = 0.6, 0.5


def check_ranking(by: str, option: str = "by") -> str:
    """Return `by`, the value of an option, if it names a ranking.

    Raises
    ------
    ValueError
    """
    if by not in RANKINGS:
        raise ValueError(f"{option} must be one of {', '.join(RANKINGS)}, not {by!r}")
    return by


def word_marginal(phi, shares=None) -> np.ndarray:
    """Return the probability of each word, p_w = sum_k share_k phi_kw, float64 (V,).

    Parameters
    ----------
    phi : float (K, V)
    shares : float (K,), optional
        Tokens or probabilities of the topics; by default the same for all.
    """
    phi = np.asarray(phi)
    shares = np.ones(len(phi)) if shares is None else np.asarray(shares, dtype=float)
    total = shares.sum()
    return (shares / total if total > 0 else np.full(len(phi), 1 / max(len(phi), 1))) @ phi


def relevance(phi, marginal, weight: float = LAMBDA) -> np.ndarray:
    """Return lambda log phi_kw + (1 - lambda) log(phi_kw / p_w), float64 (K, V).

    Sievert & Shirley (2014), section 3.1. Words of probability 0 in a topic have -inf there.

    Parameters
    ----------
    phi : float (K, V)
    marginal : float (V,)
        p_w, such as `word_marginal` returns.
    weight : float
        lambda, from 0 (rank by lift) to 1 (rank by probability).
    """
    _check_weight("lambda", weight)
    phi, marginal = np.asarray(phi, dtype=float), np.asarray(marginal, dtype=float)
    with np.errstate(divide="ignore"):
        log_phi, log_marginal = np.log(phi), np.log(marginal)
    return log_phi - (1 - weight) * np.where(marginal > 0, log_marginal, 0.0)


def frex(phi, weight: float = FREX_WEIGHT) -> np.ndarray:
    """Return the FREX score of every word in every topic, float64 (K, V), between 0 and 1.

    The harmonic mean of two ranks within the topic: of the word's frequency phi_kw, and of its exclusivity
    phi_kw / sum_j phi_jw; a rank is the empirical distribution function over the words of the topic
    (Bischof & Airoldi 2012, equation 5).

    Parameters
    ----------
    phi : float (K, V)
    weight : float
        Of exclusivity, from 0 to 1.
    """
    from scipy.stats import rankdata

    _check_weight("the weight of exclusivity", weight)
    phi = np.asarray(phi, dtype=float)
    totals = phi.sum(axis=0)
    exclusivity = np.divide(phi, totals, out=np.zeros_like(phi), where=totals > 0)
    n_words = max(phi.shape[1], 1)
    frequency_rank = rankdata(phi, method="max", axis=1) / n_words
    exclusivity_rank = rankdata(exclusivity, method="max", axis=1) / n_words
    return 1.0 / (weight / exclusivity_rank + (1.0 - weight) / frequency_rank)


def top_words(phi, n: int = 10, by: str = "probability", marginal=None, weight: float | None = None):
    """Return the n first words of each topic in a ranking, int64 (K, min(n, V)).

    Parameters
    ----------
    phi : float (K, V)
    n : int
    by : {"probability", "relevance", "frex"}
    marginal : float (V,), optional
        Of `relevance`; by default that of topics of equal size (`word_marginal`).
    weight : float, optional
        lambda of relevance, or the weight of exclusivity in FREX.

    Notes
    -----
    Words with equal scores are in the order of the vocabulary.

    Examples
    --------
    >>> from plugsamp.posterior.rankings import top_words
    >>> phi = [[0.5, 0.4, 0.1, 0.0], [0.5, 0.0, 0.1, 0.4]]
    >>> top_words(phi, 2).tolist()                  # the first word is the most probable of both
    [[0, 1], [0, 3]]
    >>> top_words(phi, 2, by="relevance").tolist()  # and says little of either
    [[1, 0], [3, 0]]
    """
    check_ranking(by)
    phi = np.asarray(phi)
    n = min(n, phi.shape[1])
    best = np.empty((len(phi), n), dtype=np.int64)
    if by == "relevance" and marginal is None:
        marginal = word_marginal(phi)
    if by == "frex":
        weight = FREX_WEIGHT if weight is None else weight
        _check_weight("the weight of exclusivity", weight)
        totals = np.asarray(phi, dtype=float).sum(axis=0)
    for k, row in enumerate(phi):
        if by == "frex":
            best[k] = _largest_frex(np.asarray(row, dtype=float), totals, n, weight)
            continue
        if by == "relevance":
            row = relevance(row, marginal, LAMBDA if weight is None else weight)
        best[k] = _largest(row, n)
    return best


def _largest_frex(row, totals, n: int, weight: float) -> np.ndarray:
    """Return the n first words of a topic by `frex`, without scoring all words.

    Words are scored from the most frequent on, until no other word can be among the first: a word of
    frequency rank f has at most the score that it would have with exclusivity rank 1.

    Parameters
    ----------
    row, totals : float64 (V,)
        phi of the topic, and summed over all topics.
    """
    size = len(row)
    if not n:
        return np.empty(0, dtype=np.int64)
    exclusivity = np.divide(row, totals, out=np.zeros_like(row), where=totals > 0)
    by_frequency, by_exclusivity = np.sort(row), np.sort(exclusivity)
    m = min(max(64, 8 * n), size)
    while True:
        cutoff = by_frequency[size - m]
        words = np.flatnonzero(row >= cutoff)
        frequency_rank = np.searchsorted(by_frequency, row[words], side="right") / size
        exclusivity_rank = np.searchsorted(by_exclusivity, exclusivity[words], side="right") / size
        scores = 1.0 / (weight / exclusivity_rank + (1.0 - weight) / frequency_rank)
        others = np.searchsorted(by_frequency, cutoff) / size  # the largest frequency rank among them
        least = np.partition(scores, len(scores) - n)[len(scores) - n]
        if others == 0 or least > 1.0 / (weight + (1.0 - weight) / others):
            return words[_largest(scores, n)]
        m = min(4 * m, size)


def _largest(row, n: int) -> np.ndarray:
    if n == 0:
        return np.empty(0, dtype=np.int64)
    least = np.partition(row, len(row) - n)[len(row) - n]
    candidates = np.flatnonzero(row >= least)
    return candidates[np.argsort(-row[candidates], kind="stable")][:n]


def _check_weight(name: str, weight: float) -> None:
    if not 0 <= weight <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1, not {weight!r}")
