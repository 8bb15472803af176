"""The word proposal where the topics are a variable: an alias table a word."""
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc, realloc

from plugsamp.kernels.lanes cimport *
from plugsamp.proposals.alias cimport Cell, alias_build, alias_draw
from plugsamp.proposals.base cimport STAY, Document, Proposal
from plugsamp.random.streams cimport Stream, bits

import numpy as np

cdef float SHARE = 0.1


cdef class WordTableProposal(Proposal):
    """A topic with mass phi_kw, or phi_kw times a weight of the topic.

    Only topics whose mass is above a tenth of the word's mean over topics get a cell of the alias table: a
    few a word, where a full table would have K. What the others hold together is known, and where it is
    drawn, seldom, the topic is found by adding up. So the draw has that mass to the last digit of floats.

    Attributes
    ----------
    sums : float32 (V,)
        The masses' sums.
    """

    cdef Cell* cells
    cdef int64_t room
    cdef int64_t[::1] starts
    cdef float[::1] limits       # no cell up to here
    cdef float[::1] rests        # what has no cell, together
    cdef readonly object sums
    cdef float[::1] sum_of
    cdef const float[::1] weights    # (stride,) or None
    cdef bint weighted

    def weigh(self, weights):
        """Take masses phi_kw times `weights`, float32 (stride,)."""
        self.weighted = True
        self.weights = weights

    def __dealloc__(self):
        free(self.cells)

    def lazy_form(self):
        from plugsamp.dispatch import load

        return load("plugsamp.proposals.word_lazy").WordLazyProposal()

    def attach(self, state):
        self.starts = np.zeros(state.n_words + 1, np.int64)
        self.limits = np.zeros(state.n_words, np.float32)
        self.rests = np.zeros(state.n_words, np.float32)
        self.sums = np.zeros(state.n_words, np.float32)
        self.sum_of = self.sums

    def refresh(self, state, seed, sweep):
        """Build the tables from Phi."""
        cdef const float[:, ::1] phi = state.phi
        cdef Py_ssize_t w, n_words = phi.shape[0]
        cdef int k, g, n, n_topics = state.n_topics, stride = phi.shape[1]
        cdef int64_t used = 0
        cdef uint32_t above
        cdef float limit
        cdef double total
        cdef float[::1] scaled = np.zeros(stride, np.float32)
        cdef float[::1] mass = np.empty(stride, np.float32)
        cdef uint16_t[::1] topics = np.empty(stride, np.uint16)
        cdef int[::1] work = np.empty(stride, np.intc)
        cdef lf acc
        cdef const float* row
        cdef const float* weight = &self.weights[0] if self.weighted else NULL
        cdef Cell* grown
        for w in range(n_words):
            if self.room < used + n_topics:
                self.room = 2 * self.room + n_topics + 4 * n_words
                grown = <Cell*>realloc(self.cells, self.room * sizeof(Cell))
                if grown == NULL:
                    raise MemoryError(f"no memory for {self.room} alias cells of the word proposal")
                self.cells = grown
            row = &phi[w, 0]
            if weight != NULL:
                for g in range(0, stride, 16):
                    l_store(&scaled[g], l_mul(l_load(row + g), l_load(weight + g)))
                row = &scaled[0]
            acc = l_set(0)
            for g in range(0, stride, 16):
                acc = l_add(acc, l_load(row + g))
            self.sum_of[w] = l_sum(acc)
            limit = self.sum_of[w] * (SHARE / n_topics)
            n = 0
            total = 0
            acc = l_set(0)
            for g in range(0, stride, 16):
                above = l_above(l_load(row + g), limit)
                acc = l_add(acc, l_up_to(l_load(row + g), limit))
                while above:
                    k = g + l_lowest(above)
                    above &= above - 1
                    mass[n] = row[k]
                    topics[n] = <uint16_t>k
                    total += row[k]
                    n += 1
            self.starts[w] = used
            self.limits[w] = limit
            self.rests[w] = l_sum(acc)
            if n:
                alias_build(self.cells + used, &mass[0], &topics[0], n, total, &work[0])
            used += n
        self.starts[n_words] = used

    cdef int by_sum(self, Document* d, int w, float target) noexcept nogil:
        """The topic without a cell at which the running sum passes `target`."""
        cdef int k, last = STAY
        cdef float mass
        cdef const float* row = d.phi + <size_t>w * d.stride
        for k in range(d.n_topics):
            mass = row[k] * self.weights[k] if self.weighted else row[k]
            if 0 < mass <= self.limits[w]:
                if target < mass:
                    return k
                target -= mass
                last = k
        return last

    cdef void draw(self, Document* d, int begin, int end, int32_t* codes, int step, Stream* s) noexcept nogil:
        cdef int i, w
        cdef int64_t start
        cdef float place
        for i in range(begin, end):
            w = d.words[i]
            start = self.starts[w]
            place = (bits(s) >> 8) * <float>(1.0 / 16777216.0) * self.sum_of[w]
            if place < self.rests[w] or self.starts[w + 1] == start:
                codes[(i - begin) * step] = self.by_sum(d, w, place)
            else:
                codes[(i - begin) * step] = alias_draw(self.cells + start, <uint32_t>(self.starts[w + 1] - start),
                                                       bits(s))

    cdef void masses(self, Document* d, int position, const int32_t* topics, const float* a, const float* b,
                     const float* c, float* out) noexcept nogil:
        cdef int i
        for i in range(8):
            out[i] = b[i] * self.weights[topics[i]] if self.weighted else b[i]
