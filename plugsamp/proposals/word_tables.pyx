"""The two forms of the word proposal."""
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc

from plugsamp.proposals.alias cimport Cell, alias_build, alias_draw
from plugsamp.proposals.base cimport STAY, Document, Proposal
from plugsamp.random.streams cimport Stream, below, bits

import numpy as np


cdef class WordCopyProposal(Proposal):
    """The topic of a uniformly chosen token of the same word, or a uniform topic (coin n_w/(n_w + K beta_w)).

    The token itself, at its current value, is among those to choose from (a stay); for another topic the
    mass is n_kw + beta_w without the token. No table: a copy of the assignments is kept in word order.
    """

    cdef uint16_t[::1] by_word     # topics in word order
    cdef int64_t[::1] starts       # (V + 1,)
    cdef int32_t[::1] place        # (N,) where each token stands in word order

    def attach(self, state):
        # Pseudo-tokens stand among the tokens of their word, with topics that never change.
        words = np.concatenate([state.words, state.pseudo_words])
        if len(words) > 2**31 - 2:
            raise ValueError("the collapsed word proposal holds 2^31 tokens at most; take collapse=partial")
        order = np.argsort(words, kind="stable")
        place = np.empty(len(words), np.int32)
        place[order] = np.arange(len(words), dtype=np.int32)
        self.place = place
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(words, minlength=state.n_words))]).astype(np.int64)
        self.by_word = np.zeros(max(len(words), 1), np.uint16)
        np.asarray(self.by_word)[place[len(state.words):]] = state.pseudo_topics
        self.follows = True

    def refresh(self, state, seed, sweep):
        """Put the assignments in word order."""
        np.asarray(self.by_word)[np.asarray(self.place)[: len(state.z)]] = state.z
        self.copies = &self.by_word[0]

    cdef void draw(self, Document* d, int begin, int end, int32_t* codes, int step, Stream* s) noexcept nogil:
        cdef int i, w
        cdef int64_t n, j
        cdef double place
        for i in range(begin, end):
            w = d.words[i]
            n = self.starts[w + 1] - self.starts[w]
            place = (bits(s) + 0.5) * (1.0 / 4294967296.0) * (n + d.n_topics * <double>d.beta[w])
            if place < n:
                j = self.starts[w] + <int64_t>place
                codes[(i - begin) * step] = STAY if j == self.place[d.first + i] else ~<int32_t>j
            else:
                codes[(i - begin) * step] = <int32_t>below(s, d.n_topics)

    cdef void masses(self, Document* d, int position, const int32_t* topics, const float* a, const float* b,
                     const float* c, float* out) noexcept nogil:
        cdef int i
        for i in range(8):
            out[i] = b[i]

    cdef void moved(self, Document* d, int position, int topic) noexcept nogil:
        self.by_word[self.place[d.first + position]] = <uint16_t>topic


cdef class WordTableProposal(Proposal):
    """A topic with mass phi_kw by an alias table over the probable topics, with a uniform background.

    Only topics with phi_kw above a twentieth of the word's mean over topics get a cell: a few a word,
    where a full table would have K. The background (5 %) reaches the others. The mass is what is drawn
    from, so nothing is approximated.
    """

    cdef Cell* cells
    cdef int64_t room
    cdef int64_t[::1] starts
    cdef float[::1] threshold
    cdef float[::1] scale
    cdef float background
    cdef uint32_t coin

    def __cinit__(self):
        self.cells = NULL
        self.background = 0.05
        self.coin = <uint32_t>(0.05 * 4294967296.0)

    def __dealloc__(self):
        free(self.cells)

    def attach(self, state):
        self.starts = np.zeros(state.n_words + 1, np.int64)
        self.threshold = np.zeros(state.n_words, np.float32)
        self.scale = np.zeros(state.n_words, np.float32)

    def refresh(self, state, seed, sweep):
        """Build the tables from Phi."""
        cdef const float[:, ::1] phi = state.phi
        cdef Py_ssize_t w, n_words = phi.shape[0]
        cdef int k, n, n_topics = state.n_topics
        cdef int64_t used = 0
        cdef float limit
        cdef double total
        cdef float[::1] mass = np.empty(n_topics, np.float32)
        cdef uint16_t[::1] topics = np.empty(n_topics, np.uint16)
        cdef int[::1] work = np.empty(n_topics, np.intc)
        cdef float sum16
        cdef const float* row
        cdef Cell* grown
        for w in range(n_words):
            if self.room < used + n_topics:
                self.room = 2 * self.room + n_topics + 4 * n_words
                grown = <Cell*>realloc(self.cells, self.room * sizeof(Cell))
                if grown == NULL:
                    raise MemoryError(f"no memory for {self.room} alias cells of the word proposal")
                self.cells = grown
            row = &phi[w, 0]
            sum16 = 0
            for k in range(n_topics):
                sum16 += row[k]
            limit = sum16 * <float>0.05 / n_topics
            n = 0
            total = 0
            for k in range(n_topics):
                mass[n] = row[k]
                topics[n] = <uint16_t>k
                n += row[k] > limit
            for k in range(n):
                total += mass[k]
            self.starts[w] = used
            self.threshold[w] = limit
            self.scale[w] = <float>((1 - self.background) / total) if n else 0
            if n:
                alias_build(self.cells + used, &mass[0], &topics[0], n, total, &work[0])
            used += n
        self.starts[n_words] = used

    cdef void draw(self, Document* d, int begin, int end, int32_t* codes, int step, Stream* s) noexcept nogil:
        cdef int i, w
        cdef int64_t start
        for i in range(begin, end):
            w = d.words[i]
            start = self.starts[w]
            if bits(s) < self.coin or self.starts[w + 1] == start:
                codes[(i - begin) * step] = <int32_t>below(s, d.n_topics)
            else:
                codes[(i - begin) * step] = alias_draw(self.cells + start, <uint32_t>(self.starts[w + 1] - start),
                                                       bits(s))

    cdef void masses(self, Document* d, int position, const int32_t* topics, const float* a, const float* b,
                     const float* c, float* out) noexcept nogil:
        cdef int i
        cdef int w = d.words[position]
        cdef float limit = self.threshold[w], scale = self.scale[w], rest = self.background / d.n_topics
        for i in range(8):
            out[i] = rest + (scale * b[i] if b[i] > limit else 0)
