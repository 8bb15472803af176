"""The log joint of a chain's state (model.md section 8)."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from plugsamp.state import ROWS


def log_joint(chain) -> dict[str, float]:
    """log q(z, eta | w, y) of a chain's state up to a constant, in named parts.

    Returns
    -------
    dict
        "words", log p(w, z) = sum_d log B(n_d + alpha)/B(alpha) + sum_k log B(n_k + beta)/B(beta), and,
        where there are responses, "responses", sum of log psi over those observed, and "weights",
        log p0(eta) given its shrinkage; and "priors", the log density of alpha and beta where they are drawn.
    """
    state, model = chain.state, chain.model
    by_block = chain.work.look("log_parts", chain.sweep, chain.phases.n_document_blocks)
    words, responses = np.sum(by_block, axis=0).tolist() if by_block else (0.0, 0.0)
    parts = {"words": words + log_words(chain)}
    drawn = [(model.learn_alpha, state.alpha_prior), (model.learn_beta, state.beta_prior[:1])]
    if any(how.method == "slice" for how, _ in drawn):
        parts["priors"] = sum(how.log_density(values) for how, values in drawn if how.method == "slice")
    if state.n_outputs:
        parts["responses"] = responses
        parts["weights"] = float(model.weights.log_density(chain.prior_state, state.eta, chain.columns))
    return parts


def log_words(chain) -> float:
    """The topics' part of the log joint: sum_k log B(n_k + s_k + beta)/B(s_k + beta), s the pseudo-counts.

    Where words are left out of topics, over those that are in, and with the prior of who is in.
    """
    state, n_topics = chain.state, chain.state.n_topics
    if state.masked:
        return _log_included_words(state, chain.model.topics)
    beta = state.beta_prior
    if len(beta) and (beta == beta[0]).all():  # how often each count occurs is all that matters
        beta = beta[0]
        values, times = _occurring(chain)
        found = float((times * (gammaln(values + beta) - gammaln(beta))).sum())
        found -= _log_rising(state.topic_totals[:n_topics], state.n_words * beta)
    else:
        found = log_topics(state.topic_word, state.topic_totals[:n_topics], beta)
    if len(state.pseudo_words):
        table, totals = state.pseudo_counts()
        found -= log_topics(table.toarray(), totals, beta)
    return found


def _occurring(chain) -> tuple[np.ndarray, np.ndarray]:
    """The different n_kw above 0, ascending, and how often each occurs."""
    state, phases = chain.state, chain.phases
    state.ready_cells()
    large = chain.work.look("cells", chain.sweep, phases.n_word_blocks)
    state.totalled(phases.counted.sum(axis=0))
    more, times_of_more = np.unique(np.concatenate([*large, np.empty(0, np.int64)]), return_counts=True)
    times = phases.times.sum(axis=0)
    values = np.flatnonzero(times)
    return np.concatenate([values, more]), np.concatenate([times[values], times_of_more])


def _log_included_words(state, prior) -> float:
    totals = state.topic_totals[: state.n_topics]
    inside = 0.0
    for first in range(0, state.n_words, ROWS):
        counts = state.topic_word[first : first + ROWS, : state.n_topics]
        word, _ = where = np.nonzero(counts)
        inside += _log_rising(counts[where], state.beta_prior[first + word])
    masses = state.topic_masses() - totals
    inside -= float((gammaln(totals + masses) - gammaln(masses)).sum())
    return inside + prior.log_included(state.included())


def log_documents(indptr, topics, counts, lengths, alpha) -> float:
    """sum_d log B(n_d + alpha)/B(alpha), from n_dk as CSR arrays.

    Parameters
    ----------
    indptr, topics, counts : int arrays (D+1,), (nnz,), (nnz,)
    lengths : int (D,)
    alpha : float (K,)
    """
    alpha = np.asarray(alpha, dtype=float)
    if len(alpha) and (alpha == alpha[0]).all():
        inside = _log_rising(counts, alpha[0])
    else:
        inside = _log_rising(counts, alpha[np.asarray(topics, dtype=np.int64)])
    return inside - _log_rising(lengths, alpha.sum())


def log_topics(topic_word, topic_totals, beta, n_words: int | None = None) -> float:
    """sum_k log B(n_k + beta)/B(beta).

    Parameters
    ----------
    topic_word : int (V, K or more)
        n_kw, word-major; columns beyond K are padding and hold zeros.
    topic_totals : int (K,)
    beta : float, or float (V,)
    """
    beta = np.asarray(beta, dtype=float)
    n_words = len(topic_word) if n_words is None else n_words
    flat = np.ascontiguousarray(topic_word).reshape(-1)
    if beta.ndim == 0:
        inside = _log_rising(flat[flat > 0], float(beta))
        total = n_words * float(beta)
    else:
        where = np.flatnonzero(flat)
        inside = _log_rising(flat[where], beta[where // topic_word.shape[1]])
        total = beta.sum()
    return inside - _log_rising(topic_totals, total)


def _log_rising(counts, base) -> float:
    """sum of log Gamma(n + base) - log Gamma(base), `base` a number or one for each n."""
    counts = np.asarray(counts)
    if counts.size == 0:
        return 0.0
    if np.ndim(base) == 0:
        size = int(counts.max()) + 1
        if size <= counts.size:  # each whole number once
            table = gammaln(np.arange(size) + base) - gammaln(base)
            return float(np.bincount(counts.reshape(-1), minlength=size) @ table)
    return float((gammaln(counts + base) - gammaln(base)).sum())
