# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The topics of the other half of the document, as a proposal.

plugsamp visits a document in two parts. While the tokens of one part are updated, the topics of the other
stay as they are, so a proposal may be made of them (and of nothing that changes meanwhile). Here

    q(k)  is proportional to  m_k + alpha_k,    m_k = tokens of the other part that have topic k:

with probability M / (M + sum of alpha), M the length of the other part, the topic of one of its tokens
chosen uniformly; otherwise a draw from alpha. Every topic can be drawn, since every alpha_k is above 0.
"""
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from plugsamp.proposals.alias cimport Cell, alias_build, alias_draw
from plugsamp.proposals.base cimport Document, Proposal
from plugsamp.random.streams cimport Stream, bits

import numpy as np


cdef class HalfProposal(Proposal):
    """The topic of a token in the other half of the document, or a draw from alpha."""

    cdef Cell* prior          # alias table of alpha
    cdef int32_t* counts      # m_k
    cdef int begin_of_part, length_of_part, others

    def __cinit__(self):
        self.prior = NULL
        self.counts = NULL

    def __dealloc__(self):
        free(self.prior)
        free(self.counts)

    def attach(self, state):
        """Once a chain, in Python: make what does not change."""
        cdef int n_topics = state.n_topics
        cdef const float[::1] alpha = state.alpha
        cdef int[::1] work = np.empty(n_topics, np.intc)
        free(self.prior)
        free(self.counts)
        self.prior = <Cell*>malloc(n_topics * sizeof(Cell))
        self.counts = <int32_t*>malloc(n_topics * sizeof(int32_t))
        if self.prior == NULL or self.counts == NULL:
            raise MemoryError(f"no memory for the half proposal's {n_topics} topics")
        alias_build(self.prior, &alpha[0], NULL, n_topics, np.sum(alpha[:n_topics], dtype=float), &work[0])

    cdef int begin(self, Document* d, int begin, int end) noexcept nogil:
        """Twice a document: tokens begin:end are about to be updated. Count the topics of the others."""
        cdef int i
        memset(self.counts, 0, d.n_topics * sizeof(int32_t))
        for i in range(begin):
            self.counts[d.topics[i]] += 1
        for i in range(end, d.length):
            self.counts[d.topics[i]] += 1
        self.begin_of_part = begin
        self.length_of_part = end - begin
        self.others = d.length - (end - begin)
        return 0

    cdef void draw(self, Document* d, int begin, int end, int32_t* codes, int step, Stream* s) noexcept nogil:
        """A candidate for each token of a run begin:end inside the part."""
        cdef int i, j
        cdef double place, scale = (self.others + d.alpha_sum) * (1.0 / 4294967296.0)
        for i in range(end - begin):
            place = (bits(s) + 0.5) * scale
            if place < self.others:
                j = <int>place
                if j >= self.begin_of_part:     # the others are what remains without the part
                    j += self.length_of_part
                codes[i * step] = d.topics[j]
            else:
                codes[i * step] = alias_draw(self.prior, d.n_topics, bits(s))

    cdef void masses(self, Document* d, int position, const int32_t* topics, const float* a, const float* b,
                     const float* c, float* out) noexcept nogil:
        """q, up to a factor, of eight candidate topics: exactly what `draw` draws from."""
        cdef int i
        for i in range(8):
            out[i] = self.counts[topics[i]] + d.alpha[topics[i]]
