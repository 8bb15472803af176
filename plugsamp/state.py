"""The arrays that a chain works on."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from plugsamp import topic_counts as _counts

#: Rows of topics are padded to this many floats, one cache line.
PAD = 16


def padded(n: int) -> int:
    """n rounded up to a whole number of lanes."""
    return -(-n // PAD) * PAD


def aligned(shape, dtype) -> np.ndarray:
    """Zeros that begin at a cache line, so that no padded row straddles one more than it must."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size].view(dtype).reshape(shape)


class State:
    """Everything that changes in a chain, and what the compiled code needs of the rest.

    Attributes
    ----------
    words : int32 (N,); offsets : int64 (D+1,)
        The corpus (not copied).
    z : uint16 (N,)
    topic_word : int32 (V, stride)
        n_kw, word-major; stride is K padded to 16, with zeros.
    topic_totals : int64 (stride,)
    stale : bool
        The token kernel left those two behind (it needs neither): they are counted when they are asked for.
    sizes : int32 (D,); doc_topics : uint16 (N,); doc_counts : int32 (N,)
        n_dk, sparse: document d has ``sizes[d]`` entries from ``offsets[d]`` on.
    phi : float32 (V, stride), or None where the topics are integrated out
    lazy : LazyTopics, or None
        Holds Φ instead of `phi` where the kernel can do without small cells (`plugsamp.topics.lazily`).
    alpha : float32 (stride,), beta : float32 (V,)
    eta : float64 (C, J)
        The weights: topics, then covariates, then the intercept.
    eta_by_topic : float32 (K, C padded); eta_by_output : float32 (C, stride)
        The topics' weights for the token kernels.
    kappa, omega, offset : float64 (D, C)
        The augmentation, and the covariates' part of the linear predictor.
    """

    def __init__(self, corpus, model, n_outputs: int, design_columns: int, partial: bool):
        self.words = np.ascontiguousarray(corpus.words, np.int32)
        self.offsets = np.ascontiguousarray(corpus.offsets, np.int64)
        n_tokens, n_documents = len(self.words), len(self.offsets) - 1
        self.n_documents, self.n_words, self.n_topics = n_documents, corpus.n_words, model.n_topics
        self.n_outputs = n_outputs
        self.stride = padded(model.n_topics)
        self.z = aligned(n_tokens, np.uint16)
        self._topic_word = aligned((self.n_words, self.stride), np.int32)
        self._topic_totals = np.zeros(self.stride, np.int64)
        self.stale = False
        self.sizes = np.zeros(n_documents, np.int32)
        self.doc_topics = np.zeros(n_tokens, np.uint16)
        self.doc_counts = np.zeros(n_tokens, np.int32)
        self.phi = aligned((self.n_words, self.stride), np.float32) if partial else None
        self.lazy = None
        self.alpha = aligned(self.stride, np.float32)
        self.alpha[: self.n_topics] = model.alpha_vector()
        self.alpha_sum = float(model.alpha_vector().sum())
        beta = model.beta_vector(self.n_words)
        self.beta = beta.astype(np.float32)
        self.beta_sum = float(beta.sum())
        self.eta = np.zeros((n_outputs, design_columns))
        self.eta_by_topic = aligned((self.n_topics, padded(n_outputs)), np.float32)
        self.eta_by_output = aligned((n_outputs, self.stride), np.float32)
        self.kappa = np.zeros((n_documents, n_outputs))
        self.omega = np.zeros((n_documents, n_outputs))
        self.offset = np.zeros((n_documents, n_outputs))

    def recount(self) -> None:
        """All counts from z."""
        size = self.n_words * self.stride
        flat = np.bincount(self.words.astype(np.int64) * self.stride + self.z, minlength=size)
        self.stale = False
        self.topic_word[:] = flat.reshape(self.topic_word.shape)
        self.topic_totals[:] = np.bincount(self.z, minlength=self.stride)
        self.recount_documents(0, self.n_documents)

    @property
    def topic_word(self) -> np.ndarray:
        self._count_words()
        return self._topic_word

    @property
    def topic_totals(self) -> np.ndarray:
        self._count_words()
        return self._topic_totals

    def _count_words(self) -> None:
        if self.stale:
            self.stale = False
            _counts.count_words(self.words, self.z, self._topic_word, self._topic_totals)

    @cached_property
    def word_order(self) -> tuple[np.ndarray, np.ndarray]:
        """Tokens word after word: their places int32 (N,), and where each word's begin int64 (V+1,)."""
        order = np.argsort(self.words, kind="stable").astype(np.int32)
        starts = np.zeros(self.n_words + 1, np.int64)
        np.cumsum(np.bincount(self.words, minlength=self.n_words), out=starts[1:])
        return order, starts

    def recount_documents(self, first: int, last: int) -> None:
        """n_dk of documents first:last from z."""
        _counts.count_topics(
            self.z, self.offsets, first, last, self.n_topics, self.sizes, self.doc_topics, self.doc_counts
        )

    def all_phi(self) -> np.ndarray:
        """Φ, float32 (V, K), with what is lazy computed."""
        if self.lazy is not None:
            self.lazy.fill(self.phi)
        return self.phi[:, : self.n_topics]

    def spread_weights(self) -> None:
        """Lay eta out for the token kernels."""
        topics = self.eta[:, : self.n_topics]
        self.eta_by_output[:, : self.n_topics] = topics
        # the padding repeats topic 0, so it never widens the range of a document's scores
        self.eta_by_output[:, self.n_topics :] = topics[:, :1]
        self.eta_by_topic[:, : self.n_outputs] = topics.T
        self._eta_topics = np.ascontiguousarray(topics.T)

    def linear_predictor(self, first: int, last: int) -> np.ndarray:
        """f of documents first:last, float64 (last - first, C)."""
        f = self.offset[first:last].copy()
        _counts.linear_predictor(
            self.offsets, self.sizes, self.doc_topics, self.doc_counts, first, last, self._eta_topics, f
        )
        return f

    def doc_topic(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """n_dk as the three arrays of a CSR matrix: indptr int64, topics uint16, counts int32."""
        indptr = np.zeros(self.n_documents + 1, np.int64)
        np.cumsum(self.sizes, out=indptr[1:])
        topics, counts = np.empty(indptr[-1], np.uint16), np.empty(indptr[-1], np.int32)
        _counts.compact(self.offsets, self.sizes, self.doc_topics, self.doc_counts, indptr, topics, counts)
        return indptr, topics, counts
