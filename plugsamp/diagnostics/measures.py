"""What a chain's state says of itself: sparsity, quality of topics (model.md section 8)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from plugsamp.posterior.quality import quality

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
