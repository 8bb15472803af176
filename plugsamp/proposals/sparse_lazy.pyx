"""The sparse proposal where the topics are lazy (`plugsamp.topics.lazy`): Magnusson et al. 2018, alg. 1 and 2 in bits.

Which topics a document has and which cells a word keeps are sets of bits, and what both hold is all that has
to be weighed. Cells that are not kept are at most tau times the topic's factor: that bound is drawn from in
their place, and a draw that meets one is accepted with its value over the bound, or made anew. So the masses
are those of the full conditional, and next to no small cell is computed.
"""
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from plugsamp.kernels.lanes cimport *
from plugsamp.proposals.base cimport Document, Proposal
from plugsamp.random.streams cimport Stream, below, uniform
from plugsamp.topics.cells cimport Block, Cells, bit_count, lowest_bit, nth_topic, small_cell

import numpy as np

cdef enum:
    SOON = 8            # tokens ahead, of which what a word keeps is fetched
    NEXT = 3            # and its values


cdef class SparseLazyProposal(Proposal):
    """Mass (n_dk + alpha_k) phi_kw without the token itself."""

    cdef object lazy
    cdef const Cells* cells
    cdef uint64_t* has          # (n_blocks,) the document's topics, and perhaps some that it had
    cdef float* n               # (stride,) n_dk
    cdef float* reach           # (stride,) topics that are weighed: the sum up to there
    cdef int32_t* topic         # and which they are
    cdef float* scratch
    cdef float[::1] held_rests
    cdef float* rests           # (V,) sum of alpha_k phi_kw over the cells kept
    cdef const float[::1] alpha
    cdef bint even              # whether alpha is the same for all topics
    cdef double[::1] small_sum  # (K,) of alpha_k times the largest phi_kw that is not kept, up to k
    cdef float small_rest       # all of it
    cdef float bound            # of phi_kw that is not kept, in the topics that the document has or had

    def __init__(self):
        self.immediate = self.follows = self.conditional = True

    def __dealloc__(self):
        self._release()

    def _release(self):
        free(self.has)
        free(self.n)
        free(self.reach)
        free(self.topic)
        free(self.scratch)
        self.has = NULL
        self.n = self.reach = self.scratch = NULL
        self.topic = NULL

    def attach(self, state):
        cdef size_t room = state.stride + 64
        self._release()
        self.lazy = state.lazy
        self.cells = <const Cells*><size_t>state.lazy.address
        self.has = <uint64_t*>calloc(room, 8)
        self.n = <float*>calloc(room, 4)
        self.reach = <float*>calloc(room, 4)
        self.topic = <int32_t*>calloc(room, 4)
        self.scratch = <float*>calloc(room, 4)
        if (self.has == NULL or self.n == NULL or self.reach == NULL or self.topic == NULL
                or self.scratch == NULL):
            raise MemoryError(f"no memory for the sparse proposal's {state.n_topics} topics")
        self.held_rests = state.arena.array("sparse_lazy.rests", max(state.n_words, 1), np.float32)
        self.rests = &self.held_rests[0]
        self.by_words = self.divides = True

    def refresh_words(self, state, Py_ssize_t first, Py_ssize_t last):
        cdef const Cells* c = <const Cells*><size_t>state.lazy.address
        cdef const float[::1] alpha = state.alpha
        cdef bint even = _even(state)
        cdef Py_ssize_t w
        cdef int k, b
        cdef uint64_t listed
        cdef const float* value
        cdef double total
        cdef lf acc
        for w in range(first, last):
            value = c.values + c.blocks[w * c.n_blocks].first
            if even:
                acc = l_set(0)
                for k in range(0, c.sizes[w], 16):
                    acc = l_add(acc, l_load(value + k))
                self.rests[w] = alpha[0] * l_sum(acc)
            else:
                total = 0
                for b in range(c.n_blocks):
                    listed = c.blocks[w * c.n_blocks + b].listed
                    while listed:
                        total += alpha[64 * b + lowest_bit(listed)] * value[0]
                        value += 1
                        listed &= listed - 1
                self.rests[w] = <float>total

    def refresh(self, state, seed, sweep):
        self.cells = <const Cells*><size_t>state.lazy.address
        n_topics = state.n_topics
        self.alpha, self.even = state.alpha, _even(state)
        factor = np.array([self.cells.factor[k] for k in range(n_topics)])
        self.small_sum = np.cumsum(self.cells.tau * factor * state.alpha[:n_topics])
        self.small_rest = <float>self.small_sum[n_topics - 1]

    cdef int begin(self, Document* d, int begin, int end) noexcept nogil:
        cdef int i, k
        cdef float most = 0
        cdef const Cells* c = self.cells
        memset(self.has, 0, c.n_blocks * sizeof(uint64_t))
        memset(self.n, 0, d.stride * sizeof(float))
        for i in range(d.length):
            k = d.topics[i]
            self.n[k] += 1
            self.has[k >> 6] |= <uint64_t>1 << (k & 63)
            most = max(most, c.factor[k])
        self.bound = most * c.tau
        return 0

    cdef int one(self, Document* d, int i, Stream* s) noexcept nogil:
        """A topic for the token at position i."""
        cdef const Cells* c = self.cells
        cdef int w = d.words[i], own = d.topics[i], b, j, k, size = 0
        cdef const Block* block = c.blocks + <size_t>w * c.n_blocks
        cdef uint64_t both, bit
        cdef float u, weight, kept = 0, rest = self.rests[w], few, all_of
        if i + SOON < d.length:
            j = d.words[i + SOON]
            l_prefetch(self.rests + j)
            for b in range(0, c.n_blocks, 4):
                l_prefetch(c.blocks + <size_t>j * c.n_blocks + b)
        if i + NEXT < d.length:
            j = d.words[i + NEXT]
            if j != w:
                l_prefetch(c.values + c.blocks[<size_t>j * c.n_blocks].first)
                l_prefetch(c.values + c.blocks[<size_t>j * c.n_blocks].first + 16)
        self.n[own] -= 1
        for b in range(c.n_blocks):
            both = block[b].listed & self.has[b]
            while both:
                j = lowest_bit(both)
                bit = <uint64_t>1 << j
                k = 64 * b + j
                weight = self.n[k] * c.values[block[b].first + bit_count(block[b].listed & (bit - 1))]
                kept += weight
                self.reach[size] = kept
                self.topic[size] = k
                size += 1
                both ^= bit
        # what the bounds of cells that are not kept weigh: the document's, and all
        few = (d.length - 1) * self.bound
        all_of = kept + rest + few + self.small_rest
        k = -1
        while k < 0:
            u = uniform(s) * all_of
            if u < kept:
                j = 0
                while j < size - 1 and self.reach[j] <= u:
                    j += 1
                k = self.topic[j]
            elif u < kept + rest:
                k = self.of_word(c, w, s)
            elif u < kept + rest + few:
                j = <int>below(s, d.length - 1)     # another token of the document
                k = d.topics[j + (j >= i)]
                if self.listed(c, w, k) or uniform(s) * self.bound >= small_cell(c, w, k):
                    k = -1
            else:
                k = self.of_all(uniform(s))
                if self.listed(c, w, k) or uniform(s) * c.tau * c.factor[k] >= small_cell(c, w, k):
                    k = -1
        self.n[own] += 1
        return k

    cdef inline bint listed(self, const Cells* c, int w, int k) noexcept nogil:
        return c.blocks[<size_t>w * c.n_blocks + (k >> 6)].listed >> (k & 63) & 1

    cdef int of_word(self, const Cells* c, int w, Stream* s) noexcept nogil:
        """A topic by alpha_k phi_kw, of the cells that are kept, or -1: none has mass."""
        cdef int k, b, n = (c.sizes[w] + 15) & ~15
        cdef uint32_t first = c.blocks[<size_t>w * c.n_blocks].first
        cdef const float* value = c.values + first
        cdef uint64_t listed
        cdef lf acc = l_set(0)
        if not self.even:
            k = 0
            for b in range(c.n_blocks):
                listed = c.blocks[<size_t>w * c.n_blocks + b].listed
                while listed:
                    self.scratch[k] = self.alpha[64 * b + lowest_bit(listed)] * value[k]
                    k += 1
                    listed &= listed - 1
            while k < n:
                self.scratch[k] = 0
                k += 1
            value = self.scratch
        for k in range(0, n, 16):
            acc = l_add(acc, l_load(value + k))
        k = l_choose(value, n, acc, uniform(s))
        return k if k < 0 else nth_topic(c, w, first + k)

    cdef int of_all(self, float u) noexcept nogil:
        """A topic by alpha_k factor_k."""
        cdef int low = 0, high = <int>self.small_sum.shape[0] - 1, middle
        cdef double target = u * self.small_sum[high]
        while low < high:
            middle = (low + high) // 2
            if self.small_sum[middle] > target:
                high = middle
            else:
                low = middle + 1
        return low

    cdef void draw(self, Document* d, int begin, int end, int32_t* codes, int step, Stream* s) noexcept nogil:
        cdef int i
        for i in range(begin, end):
            codes[(i - begin) * step] = self.one(d, i, s)

    cdef void masses(self, Document* d, int position, const int32_t* topics, const float* a, const float* b,
                     const float* c, float* out) noexcept nogil:
        cdef int l
        for l in range(8):
            out[l] = a[l] * b[l]

    cdef void moved(self, Document* d, int position, int before) noexcept nogil:
        cdef int k = d.topics[position]
        self.n[before] -= 1
        if self.n[before] == 0:
            self.has[before >> 6] &= ~(<uint64_t>1 << (before & 63))
        self.n[k] += 1
        self.has[k >> 6] |= <uint64_t>1 << (k & 63)
        self.bound = max(self.bound, self.cells.factor[k] * self.cells.tau)


def _even(state):
    alpha = state.alpha[: state.n_topics]
    return bool((alpha == alpha[0]).all())
