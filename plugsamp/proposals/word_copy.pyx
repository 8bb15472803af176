"""The word proposal where the topics are integrated out."""
from libc.stdint cimport int32_t, int64_t, uint16_t

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
    cdef readonly object sums      # float32 (V,) of the masses, n_w + K beta_w

    def attach(self, state):
        # Pseudo-tokens stand among the tokens of their word, with topics that never change.
        n = len(state.words) + len(state.pseudo_words)
        if n > 2**31 - 2:
            raise ValueError("the collapsed word proposal holds 2^31 tokens at most; take collapse=partial")
        order, self.starts = state.word_order
        place = state.arena.array("copies.place", n, np.int32)
        place[order] = np.arange(n, dtype=np.int32)
        self.place = place
        self.sums = np.empty(state.n_words, np.float32)
        self.by_word = state.arena.array("copies.topics", max(n, 1), np.uint16)
        self.follows = self.by_words = self.divides = True

    def refresh_words(self, state, first, last):
        """Put the assignments of some words in their order."""
        order, starts = state.word_order
        begin, end = starts[first], starts[last]
        tokens, topics = order[begin:end], np.asarray(self.by_word)[begin:end]
        n_tokens = len(state.z)
        own = tokens < n_tokens
        if own.all():
            topics[:] = state.z[tokens]
        else:
            topics[own] = state.z[tokens[own]]
            topics[~own] = state.pseudo_topics[tokens[~own] - n_tokens]

    def refresh(self, state, seed, sweep):
        self.sums[:] = np.diff(np.asarray(self.starts)) + state.n_topics * np.asarray(state.beta, float)
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

    cdef void moved(self, Document* d, int position, int before) noexcept nogil:
        self.by_word[self.place[d.first + position]] = d.topics[position]
