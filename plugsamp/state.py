"""The arrays that a chain works on."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from plugsamp import topic_counts as _counts

#: Rows of topics are padded to this many floats, one cache line.
PAD = 16

#: Words of which topic probabilities are in memory at once.
ROWS = 1024


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
        n_kw, word-major; stride is K padded to 16, with zeros. This and the totals are counted when they are
        read, if z has changed without them (`leave_counts`).
    version : int
        Changes whenever z is set anew, other than by the kernel.
    topic_totals : int64 (stride,)
    sizes : int32 (D,); doc_topics : uint16 (N,); doc_counts : int32 (N,)
        n_dk, sparse: document d has ``sizes[d]`` entries from ``offsets[d]`` on.
    phi : float32 (V, stride), or None where the topics are integrated out
    lazy : LazyTopics, or None; small_deviation : float
        Holds Φ instead of `phi` where the kernel can do without small cells (`plugsamp.topics.lazily`), and
        the standard deviation of their sum.
    alpha : float32 (stride,), beta : float32 (V,)
        As the token kernels see the priors; ``alpha_prior`` (K,) and ``beta_prior`` (V,) are in float64.
    pseudo_words, pseudo_topics : int32 (S,)
        Pseudo-tokens of the topic prior, which `topic_word` and `topic_totals` hold as well.
    masked : bool
        Whether cells of phi are 0 because the topic prior has left the word out of the topic.
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
        self._words_behind = self._totals_behind = False
        self.version = 0
        self._topic_totals = np.zeros(self.stride, np.int64)
        self.sizes = np.zeros(n_documents, np.int32)
        self.doc_topics = np.zeros(n_tokens, np.uint16)
        self.doc_counts = np.zeros(n_tokens, np.int32)
        self.phi = aligned((self.n_words, self.stride), np.float32) if partial else None
        self.masked = model.topics.needs_phi
        if self.masked:
            self.phi[:, : self.n_topics] = 1.0
        self.lazy, self.small_deviation = None, 0.0
        #: Whether beta stays as it is: what is made of it once a chain may be kept.
        self.beta_stays = model.learn_beta.method == "none"
        self.alpha, self.beta = aligned(self.stride, np.float32), np.empty(self.n_words, np.float32)
        self.set_priors(model.alpha_vector(), model.beta_vector(self.n_words))
        pseudo = model.topics.pseudo_tokens(corpus.vocabulary, self.n_topics)
        self.pseudo_words, self.pseudo_topics = (np.asarray(a, np.int32) for a in pseudo)
        self.eta = np.zeros((n_outputs, design_columns))
        self.eta_by_topic = aligned((self.n_topics, padded(n_outputs)), np.float32)
        self.eta_by_output = aligned((n_outputs, self.stride), np.float32)
        self.kappa = np.zeros((n_documents, n_outputs))
        self.omega = np.zeros((n_documents, n_outputs))
        self.offset = np.zeros((n_documents, n_outputs))

    @property
    def topic_word(self) -> np.ndarray:
        if self._words_behind:
            _counts.count_words(self.words, self.z, self._topic_word)
            np.add.at(self._topic_word, (self.pseudo_words, self.pseudo_topics), 1)
            self._words_behind = False
        return self._topic_word

    @property
    def topic_totals(self) -> np.ndarray:
        if self._totals_behind:
            self._topic_totals[:] = np.bincount(self.z, minlength=self.stride)
            np.add.at(self._topic_totals, self.pseudo_topics, 1)
            self._totals_behind = False
        return self._topic_totals

    @property
    def unread_counts(self) -> tuple[np.ndarray, np.ndarray]:
        """`topic_word` and `topic_totals` for a kernel that takes them and does not look."""
        return self._topic_word, self._topic_totals

    def leave_topic_word(self) -> None:
        """Say that z has changed and `topic_word` has not: for kernels that keep word counts of their own."""
        self._words_behind = True

    def leave_counts(self) -> None:
        """Say that z has changed, and neither `topic_word` nor `topic_totals`."""
        self._words_behind = self._totals_behind = True

    def set_priors(self, alpha: np.ndarray | None = None, beta: np.ndarray | None = None) -> None:
        """Change the Dirichlet priors, in place for those who hold the arrays."""
        if alpha is not None:
            self.alpha_prior = np.array(alpha, float)
            self.alpha[: self.n_topics] = alpha
            self.alpha_sum = float(self.alpha_prior.sum())
        if beta is not None:
            self.beta_prior = np.array(beta, float)
            self.beta[:] = beta
            self.beta_sum = float(self.beta_prior.sum())

    def recount(self) -> None:
        """All counts from z and the pseudo-tokens."""
        self.leave_counts()
        self.recount_documents(0, self.n_documents)

    def pseudo_counts(self) -> tuple[sparse.csr_array, np.ndarray]:
        """The pseudo-tokens as counts: (V, K), and their sums (K,)."""
        shape = (self.n_words, self.n_topics)
        ones = np.ones(len(self.pseudo_words), np.int64)
        table = sparse.coo_array((ones, (self.pseudo_words, self.pseudo_topics)), shape=shape).tocsr()
        return table, np.bincount(self.pseudo_topics, minlength=self.n_topics)

    def included(self, rows: slice = slice(None)) -> np.ndarray:
        """Which words are in which topics, bool (rows, K)."""
        return self.phi[rows, : self.n_topics] > 0

    def topic_masses(self) -> np.ndarray:
        """n_k plus the prior's mass, (K,)."""
        totals = self.topic_totals[: self.n_topics].astype(float)
        if not self.masked:
            return totals + self.beta_sum
        for first in range(0, self.n_words, ROWS):
            rows = slice(first, first + ROWS)
            totals += self.beta_prior[rows] @ self.included(rows)
        return totals

    def word_masses(self, rows: slice = slice(None)) -> np.ndarray:
        """n_kw plus the prior's mass, float64 (rows, K)."""
        masses = self.topic_word[rows, : self.n_topics] + self.beta_prior[rows, None]
        return masses * self.included(rows) if self.masked else masses

    @cached_property
    def word_order(self) -> tuple[np.ndarray, np.ndarray]:
        """Tokens, then pseudo-tokens, by word: places int32 (N + S,), and the first of each word (V+1,)."""
        words = np.concatenate([self.words, self.pseudo_words])
        order = np.argsort(words, kind="stable").astype(np.int32)
        starts = np.zeros(self.n_words + 1, np.int64)
        np.cumsum(np.bincount(words, minlength=self.n_words), out=starts[1:])
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
