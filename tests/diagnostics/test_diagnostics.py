"""Diagnostics against sums written out."""

from __future__ import annotations

from math import lgamma, log

import numpy as np
import pytest
from scipy import sparse

from plugsamp.diagnostics import (
    coherence,
    document_entropy,
    log_documents,
    log_topics,
    sparsity,
    supervised_effect,
    top_words,
)


def log_beta(x):
    return sum(lgamma(v) for v in x) - lgamma(sum(x))


ASYMMETRIC = np.array([0.5, 2.0, 0.01])


@pytest.mark.parametrize("alpha", [np.full(3, 0.1), ASYMMETRIC])
@pytest.mark.parametrize("scale", [1, 300])  # counts below and above the number of cells
def test_log_documents(alpha, scale):
    counts = scale * np.array([[0, 2, 1], [0, 0, 0], [5, 0, 0], [1, 1, 1]])
    rows = sparse.csr_array(counts)
    found = log_documents(rows.indptr, rows.indices.astype(np.uint16), rows.data, counts.sum(1), alpha)
    assert found == pytest.approx(sum(log_beta(n + alpha) - log_beta(alpha) for n in counts), rel=1e-12)


@pytest.mark.parametrize("beta", [0.01, np.array([0.3, 1e-3, 2.0, 0.5])])
def test_log_topics_with_padding(beta):
    counts = np.array([[0, 3], [1, 0], [0, 0], [2, 2]])  # (V, K)
    padded = np.zeros((4, 16), np.int32)
    padded[:, :2] = counts
    full = np.broadcast_to(beta, 4)
    expected = sum(log_beta(n + full) - log_beta(full) for n in counts.T)
    assert log_topics(padded, counts.sum(0), beta) == pytest.approx(expected, rel=1e-12)
    assert log_topics(counts, counts.sum(0), beta) == pytest.approx(expected, rel=1e-12)


def test_sparsity():
    found = sparsity(sparse.csr_array([[1, 0, 2], [0, 0, 0]]), np.array([[1, 0], [0, 0], [2, 0]]))
    assert found == {
        "doc_topic": 2 / 6,
        "topic_word": 2 / 6,
        "topics_per_document": 2.0,
        "topics_per_word": 2.0,
    }


def test_top_words_break_ties_by_the_order_of_words():
    phi = np.array([[0.2, 0.2, 0.2, 0.4, 0.0], [0.2] * 5])
    assert top_words(phi, 3).tolist() == [[3, 0, 1], [0, 1, 2]]
    assert top_words(phi, 50).tolist() == [[3, 0, 1, 2, 4], [0, 1, 2, 3, 4]]
    assert top_words(np.ones((2, 1)), 10).tolist() == [[0], [0]]


def test_coherence():
    counts = sparse.csr_array([[1, 2, 0, 0], [3, 0, 1, 0], [1, 1, 1, 0]])
    phi = np.array([[0.5, 0.3, 0.2, 0.0], [0.0, 0.0, 0.3, 0.7]])
    # documents: word 0 in 3, word 1 in 2, word 2 in 2, word 3 in none; pairs 01: 2, 02: 2, 12: 1
    expected = log(3 / 3) + log(3 / 3) + log(2 / 2)
    assert coherence(phi, counts, 3)[0] == pytest.approx(expected)
    assert coherence(phi, counts, 2)[1] == 0.0
    assert coherence(np.array([[0.1, 0.2, 0.7, 0.0]]), counts, 2)[0] == pytest.approx(log((1 + 1) / 2))


def test_supervised_effect_is_of_topics_only():
    assert supervised_effect([[1.0, -2.0, 9.0], [-3.0, 0.0, 9.0]], 2).tolist() == [4.0, 2.0]


def test_document_entropy():
    found = document_entropy(sparse.csr_array([[1, 3, 0], [1, 0, 0]]))
    assert found == pytest.approx([log(2), 0.0, 0.0])
