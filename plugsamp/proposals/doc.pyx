"""The doc proposal: the topic of another token of the document (model.md section 3)."""
from libc.stdint cimport int32_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc

from plugsamp.proposals.alias cimport Cell, alias_build, alias_draw
from plugsamp.proposals.base cimport STAY, Document, Proposal
from plugsamp.random.streams cimport Stream, bits

import numpy as np


cdef class DocProposal(Proposal):
    """With probability N_d/(N_d + sum of alpha) the topic of a token of the document, else a draw from alpha.

    The token itself, at its current value, is among those to choose from (a stay); for another topic the
    mass is n_dk + alpha_k without the token, so the document's factor of the target cancels.
    """

    cdef Cell* cells
    cdef int n_topics

    def __dealloc__(self):
        free(self.cells)

    def attach(self, state):
        self.n_topics = state.n_topics
        self.divides = self.kept_alone = True
        free(self.cells)
        self.cells = <Cell*>malloc(self.n_topics * sizeof(Cell))
        if self.cells == NULL:
            raise MemoryError("no memory for the alias table of alpha")

    def refresh(self, state, seed, sweep):
        """Build the table from alpha, which may be learnt."""
        cdef const float[::1] alpha = state.alpha
        cdef int[::1] work = np.empty(self.n_topics, np.intc)
        alias_build(self.cells, &alpha[0], NULL, self.n_topics,
                    np.asarray(alpha, dtype=float)[: self.n_topics].sum(), &work[0])

    def lazy_form(self):
        return self

    cdef int begin(self, Document* d, int begin, int end) noexcept nogil:
        self.copies = d.topics
        return 0

    cdef void draw(self, Document* d, int begin, int end, int32_t* codes, int step, Stream* s) noexcept nogil:
        cdef int i, j
        cdef double place
        cdef double scale = (d.length + d.alpha_sum) * (1.0 / 4294967296.0)
        for i in range(begin, end):
            place = (bits(s) + 0.5) * scale
            if place < d.length:
                j = <int>place
                codes[(i - begin) * step] = STAY if j == i else ~j
            else:
                codes[(i - begin) * step] = alias_draw(self.cells, self.n_topics, bits(s))

    cdef void masses(self, Document* d, int position, const int32_t* topics, const float* a, const float* b,
                     const float* c, float* out) noexcept nogil:
        cdef int i
        for i in range(8):
            out[i] = a[i]
