"""What a chain's state says of itself: log joint, sparsity, coherence, top words (model.md section 8)."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from plugsamp.posterior.quality import quality
from plugsamp.state import ROWS

# -- log joint ---------------------------------------------------------------------------------------


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


# -- sparsity ----------------------------------------------------------------------------------------


def sparsity(doc_topic, topic_word) -> dict[str, float]:
    """Shares of cells that hold a token, and topics in use a document and a word that occurs.

    Parameters
    ----------
    doc_topic : sparse (D, K)
    topic_word : int (K, V)
    """
    doc_topic, topic_word = sparse.csr_array(doc_topic), np.asarray(topic_word)
    by_document = np.diff(doc_topic.indptr)
    by_word = np.count_nonzero(topic_word, axis=0)
    return {
        "doc_topic": float(doc_topic.nnz / max(1, np.prod(doc_topic.shape))),
        "topic_word": float(by_word.sum() / max(1, topic_word.size)),
        "topics_per_document": _mean(by_document[by_document > 0]),
        "topics_per_word": _mean(by_word[by_word > 0]),
    }


def _mean(values) -> float:
    return float(values.mean()) if len(values) else 0.0


# -- topics ------------------------------------------------------------------------------------------


def supervised_effect(eta, n_topics: int) -> np.ndarray:
    """r_k = sum_c |eta_ck|: how much a topic says of the responses, float64 (K,)."""
    return np.abs(np.asarray(eta)[:, :n_topics]).sum(axis=0)


def document_entropy(doc_topic) -> np.ndarray:
    """Entropy in nats of p(d | k) = n_dk / n_k for each topic, float64 (K,); 0 for a topic without tokens."""
    columns = sparse.csc_array(doc_topic, dtype=float)
    totals = columns.sum(axis=0)
    n = columns.data
    weighted = np.bincount(
        np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr)),
        weights=n * np.log(np.where(n > 0, n, 1.0)),
        minlength=columns.shape[1],
    )
    safe = np.where(totals > 0, totals, 1.0)
    return np.where(totals > 0, np.maximum(0.0, np.log(safe) - weighted / safe), 0.0)


def topic_table(chain, phi, eta, counts, n: int = 10) -> dict[str, np.ndarray]:
    """What can be said of every topic by itself, as columns (K,).

    Parameters
    ----------
    chain : Chain
    phi : float (K, V)
    eta : float (C, J)
    counts : sparse (D, V)
        The training documents.
    n : int
        Top words that the quality of a topic is measured by.

    Returns
    -------
    dict
        ``tokens`` n_k, ``documents`` that have the topic, ``n_words`` with a token in it, ``coherence``,
        ``document_entropy``, with responses ``supervised_effect``, and ``npmi``, ``diversity``,
        ``exclusivity`` (`plugsamp.posterior.quality`).
    """
    doc_topic, topic_word = chain.counts.doc_topic, chain.counts.topic_word
    measured = quality(phi, counts, n)
    columns = {
        "tokens": topic_word.sum(axis=1),
        "documents": np.bincount(doc_topic.indices, minlength=len(phi)),
        "n_words": np.count_nonzero(topic_word, axis=1),
        "coherence": measured.pop("coherence"),
        "document_entropy": document_entropy(doc_topic),
    }
    if len(eta):
        columns["supervised_effect"] = supervised_effect(eta, len(phi))
    return columns | measured
