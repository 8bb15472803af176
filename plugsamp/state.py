"""The arrays that a chain works on."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from functools import cached_property

import numpy as np
from scipy import sparse

from plugsamp import topic_counts as _counts
from plugsamp.system.arena import Arena, file_of
from plugsamp.system.memory import in_words
from plugsamp.system.tally import tally

log = logging.getLogger(__name__)

#: Tables of words and topics above this many bytes are said before they are asked for.
LARGE = 1 << 30

#: Rows of topics are padded to this many floats, one cache line.
PAD = 16

#: Words of which topic probabilities are in memory at once.
ROWS = 1024


def padded(n: int) -> int:
    """n rounded up to a whole number of lanes."""
    return -(-n // PAD) * PAD


class State:
    """Everything that changes in a chain, and what the compiled code needs of the rest.

    All of it stands in arrays of the backend's arena and is changed in place: whichever process changes it,
    all of them see it.

    Attributes
    ----------
    arena : Arena
    words : int32 (N,); offsets : int64 (D+1,)
        The corpus (copied only where other processes must see it).
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

    def __init__(
        self, corpus, model, n_outputs: int, design_columns: int, partial: bool, arena: Arena | None = None
    ):
        self.arena = arena = Arena() if arena is None else arena
        self._own: dict[str, np.ndarray] = {}
        self.words = _seen(arena, "words", np.ascontiguousarray(corpus.words, np.int32))
        self.offsets = _seen(arena, "offsets", np.ascontiguousarray(corpus.offsets, np.int64))
        n_tokens, n_documents = len(self.words), len(self.offsets) - 1
        self.n_documents, self.n_words, self.n_topics = n_documents, corpus.n_words, model.n_topics
        self.n_outputs = n_outputs
        self.stride = padded(model.n_topics)
        cells = self.n_words * self.stride
        if 4 * cells > LARGE:
            log.info(
                "%s words x %s topics: up to %s for counts%s; what is in use takes memory",
                f"{self.n_words:,}", f"{self.n_topics:,}", in_words(4 * cells * (2 if partial else 1)),
                " and the topics" if partial else "",
            )  # fmt: skip
        self.z = arena.array("z", n_tokens, np.uint16)
        self._topic_word = arena.array("topic_word", (self.n_words, self.stride), np.int32)
        self._topic_totals = arena.array("topic_totals", self.stride, np.int64)
        self._flags = arena.array("flags", 3, np.int64)  # words behind, totals behind, version
        self.sizes = arena.array("sizes", n_documents, np.int32)
        self.doc_topics = arena.array("doc_topics", n_tokens, np.uint16)
        self.doc_counts = arena.array("doc_counts", n_tokens, np.int32)
        shape = (self.n_words, self.stride)
        self.phi = arena.array("phi", shape, np.float32) if partial else None
        self.masked = model.topics.needs_phi
        if self.masked:
            self.phi[:, : self.n_topics] = 1.0
        self.lazy, self.small_deviation = None, 0.0
        #: Whether beta stays as it is: what is made of it once a chain may be kept.
        self.beta_stays = model.learn_beta.method == "none"
        self.alpha, self.beta = (
            arena.array("alpha", self.stride, np.float32),
            arena.array("beta", self.n_words, np.float32),
        )
        self.alpha_prior = arena.array("alpha_prior", self.n_topics, float)
        self.beta_prior = arena.array("beta_prior", self.n_words, float)
        self._sums = arena.array("prior_sums", 2, float)
        self.set_priors(model.alpha_vector(), model.beta_vector(self.n_words))
        pseudo = model.topics.pseudo_tokens(corpus.vocabulary, self.n_topics)
        names = ("pseudo_words", "pseudo_topics")
        self.pseudo_words, self.pseudo_topics = (
            _seen(arena, name, np.asarray(a, np.int32)) for name, a in zip(names, pseudo, strict=True)
        )
        self.eta = arena.array("eta", (n_outputs, design_columns), float)
        self.eta_by_topic = arena.array("eta_by_topic", (self.n_topics, padded(n_outputs)), np.float32)
        self.eta_by_output = arena.array("eta_by_output", (n_outputs, self.stride), np.float32)
        self._eta_topics = arena.array("eta_topics", (self.n_topics, n_outputs), float)
        shape = (n_documents, n_outputs)
        self.kappa, self.omega, self.offset = (
            arena.array(name, shape, float) for name in ("kappa", "omega", "offset")
        )

    def __getstate__(self):
        """For another process, which has an arena and a sampler of its own."""
        return {name: value for name, value in self.__dict__.items() if name not in ("arena", "lazy", "_own")}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.lazy, self._own = None, {}

    @property
    def version(self) -> int:
        return int(self._flags[2])

    def renewed(self) -> None:
        """Say that z has been set, other than by the kernel."""
        self._flags[2] += 1

    @property
    def alpha_sum(self) -> float:
        return float(self._sums[0])

    @property
    def beta_sum(self) -> float:
        return float(self._sums[1])

    @beta_sum.setter
    def beta_sum(self, value: float) -> None:
        self._sums[1] = value

    @property
    def topic_word(self) -> np.ndarray:
        if self._flags[0]:
            _counts.count_words(self.words, self.z, self._topic_word)
            np.add.at(self._topic_word, (self.pseudo_words, self.pseudo_topics), 1)
            self._flags[0] = False
        return self._topic_word

    @property
    def topic_totals(self) -> np.ndarray:
        if self._flags[1]:
            self._topic_totals[:] = tally(self.z, self.stride)
            np.add.at(self._topic_totals, self.pseudo_topics, 1)
            self._flags[1] = False
        return self._topic_totals

    @property
    def unread_counts(self) -> tuple[np.ndarray, np.ndarray]:
        """`topic_word` and `topic_totals` for whoever does not look, or knows that they are current."""
        return self._topic_word, self._topic_totals

    def leave_topic_word(self) -> None:
        """Say that z has changed and `topic_word` has not: for kernels that keep word counts of their own."""
        self._flags[0] = True

    def leave_counts(self) -> None:
        """Say that z has changed, and neither `topic_word` nor `topic_totals`."""
        self._flags[:2] = True

    def count_words(self, first: int, last: int, totals: np.ndarray) -> None:
        """`topic_word` of words first:last from z and the pseudo-tokens; its sums go to `totals` (K,)."""
        _counts.count_block(
            self.z, self.pseudo_topics, *self.word_order, first, last, self._topic_word, totals
        )

    def counted(self, totals: np.ndarray) -> None:
        """Say that `count_words` has been over all words, with `totals` (K,) in all."""
        self._topic_totals[: self.n_topics] = totals
        self._flags[:2] = False

    def count_cells(self, first: int, last: int, times: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """How often each n_kw above 0 occurs in words first:last (`topic_counts.count_cells`)."""
        if "word_order" in self.__dict__:  # far fewer tokens than cells
            return _counts.count_cells(
                self.z, self.pseudo_topics, *self.word_order, first, last, times, totals
            )
        return _counts.scan_cells(self._topic_word, first, last, times, totals)

    def ready_cells(self) -> None:
        """Have what `count_cells` needs."""
        if "word_order" not in self.__dict__:
            _ = self.topic_word

    def totalled(self, totals: np.ndarray) -> None:
        """Say that n_k is `totals` (K,) by a count."""
        self._topic_totals[: self.n_topics] = totals
        self._flags[1] = False

    @contextmanager
    def own_totals(self):
        """Totals that are this process's alone, as they are for all now; gives how they change."""
        shared, flags = self._topic_totals, self._flags
        self._topic_totals, self._flags = shared.copy(), flags.copy()
        change = np.zeros(self.n_topics, np.int64)
        try:
            yield change
            change += (self._topic_totals - shared)[: self.n_topics]
        finally:
            behind = bool(self._flags[0])
            self._topic_totals, self._flags = shared, flags
            if behind:
                self.leave_topic_word()

    @contextmanager
    def own_counts(self, version: int):
        """Topics and counts that are this process's alone, as they are for all now.

        `version` is what the state's is meanwhile: no other that a sampler has seen.
        """
        names = ("z", "_topic_word", "_topic_totals", "_flags")
        shared = {name: getattr(self, name) for name in names}
        try:
            for name, array in shared.items():
                mine = self._own.setdefault(name, np.empty_like(array))
                np.copyto(mine, array)
                setattr(self, name, mine)
            self._flags[2] = version
            yield
        finally:
            for name, array in shared.items():
                setattr(self, name, array)

    def set_priors(self, alpha: np.ndarray | None = None, beta: np.ndarray | None = None) -> None:
        """Change the Dirichlet priors, in place for those who hold the arrays."""
        if alpha is not None:
            self.alpha_prior[:] = alpha
            self.alpha[: self.n_topics] = alpha
            self._sums[0] = self.alpha_prior.sum()
        if beta is not None:
            self.beta_prior[:] = beta
            self.beta[:] = beta
            self._sums[1] = self.beta_prior.sum()

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
        n = len(self.words) + len(self.pseudo_words)
        if n >= 2**31:
            raise ValueError(f"{n:,} tokens are more than this kernel takes: 2^31 - 1")
        order = self.arena.array("word_order", n, np.int32)
        starts = self.arena.array("word_starts", self.n_words + 1, np.int64)
        _counts.sort_by_word(self.words, self.pseudo_words, order, starts)
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
        self._eta_topics[:] = topics.T

    def linear_predictor(self, first: int, last: int) -> np.ndarray:
        """f of documents first:last, float64 (last - first, C)."""
        f = self.offset[first:last].copy()
        _counts.linear_predictor(
            self.offsets, self.sizes, self.doc_topics, self.doc_counts, first, last, self._eta_topics, f
        )
        return f

    def doc_topic(self, first: int = 0, last: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """n_dk as the three arrays of a CSR matrix: indptr int64, topics uint16, counts int32."""
        sizes = self.sizes[first:last]
        indptr = np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(sizes, out=indptr[1:])
        topics, counts = np.empty(indptr[-1], np.uint16), np.empty(indptr[-1], np.int32)
        _counts.compact(self.offsets[first:], sizes, self.doc_topics, self.doc_counts, indptr, topics, counts)
        return indptr, topics, counts


def _seen(arena: Arena, name: str, values: np.ndarray) -> np.ndarray:
    """`values` where all processes see them: a file in memory is there already."""
    return arena.copy(name, values) if arena.shared and file_of(values) is None else values
