"""The word proposal where the topics are a variable: an alias table a word."""
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t

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

    cdef uint64_t[::1] held      # room for (V, K) cells, of which few are touched
    cdef Cell* cells
    cdef int64_t[::1] starts
    cdef int32_t[::1] sizes
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

    def lazy_form(self):
        from plugsamp.system.dispatch import load

        return load("plugsamp.proposals.word_lazy").WordLazyProposal()

    def attach(self, state):
        arena, n_words = state.arena, max(state.n_words, 1)
        self.held = arena.array("word_tables.cells", n_words * state.n_topics, np.uint64, 0.25)
        self.cells = <Cell*>&self.held[0]
        self.starts = arena.array("word_tables.starts", n_words, np.int64)
        self.sizes = arena.array("word_tables.sizes", n_words, np.int32)
        self.limits = arena.array("word_tables.limits", n_words, np.float32)
        self.rests = arena.array("word_tables.rests", n_words, np.float32)
        self.sums = arena.array("word_tables.sums", n_words, np.float32)
        self.sum_of = self.sums
        self.by_words = True

    def refresh_words(self, state, Py_ssize_t first, Py_ssize_t last):
        """Build the tables of words first:last from Phi; a block's stand one after another."""
        cdef const float[:, ::1] phi = state.phi
        cdef Py_ssize_t w
        cdef int k, g, n, n_topics = state.n_topics, stride = phi.shape[1]
        cdef int64_t used = <int64_t>first * n_topics
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
        for w in range(first, last):
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
            self.sizes[w] = n
            self.limits[w] = limit
            self.rests[w] = l_sum(acc)
            if n:
                alias_build(self.cells + used, &mass[0], &topics[0], n, total, &work[0])
            used += n

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
        cdef float place
        for i in range(begin, end):
            w = d.words[i]
            place = (bits(s) >> 8) * <float>(1.0 / 16777216.0) * self.sum_of[w]
            if place < self.rests[w] or self.sizes[w] == 0:
                codes[(i - begin) * step] = self.by_sum(d, w, place)
            else:
                codes[(i - begin) * step] = alias_draw(self.cells + self.starts[w], <uint32_t>self.sizes[w], bits(s))

    cdef void masses(self, Document* d, int position, const int32_t* topics, const float* a, const float* b,
                     const float* c, float* out) noexcept nogil:
        cdef int i
        for i in range(8):
            out[i] = b[i] * self.weights[topics[i]] if self.weighted else b[i]
