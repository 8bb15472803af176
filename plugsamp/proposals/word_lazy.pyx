"""The word proposal where the topics are lazy (`plugsamp.topics.lazy`)."""
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from plugsamp.kernels.lanes cimport *
from plugsamp.proposals.alias cimport Cell, alias_build, alias_draw
from plugsamp.proposals.base cimport STAY, Document, Proposal
from plugsamp.random.streams cimport Stream, below, bits, uniform
from plugsamp.topics.cells cimport Block, Cells, lowest_bit, nth_topic

import numpy as np

from plugsamp.system.tally import tally

cdef enum:
    SELDOM = 32         # words with fewer tokens are drawn by adding up their cells: 16 in a register of lanes
cdef float BACKGROUND = 1.0 / 1024

cdef struct Row:
    int64_t start       # of the alias table
    int32_t n           # its cells, 0 where draws add up
    float sum           # of phi above the threshold
    float even          # every topic's mass on top of that


cdef class WordLazyProposal(Proposal):
    """A topic with mass phi_kw where that is above a threshold, and for every topic a little on top.

    The threshold is such that cells above it are kept in any state of the chain, so that the masses are a
    function of phi alone. Words of few tokens have no table: the few draws add up their cells.
    """

    cdef const Cells* cells
    cdef object lazy
    cdef uint64_t[::1] held_rows, held_tables
    cdef Row* rows
    cdef Cell* tables           # room for (V, K), of which few are touched
    cdef float* scratch
    cdef int32_t[::1] tokens

    def __dealloc__(self):
        free(self.scratch)

    def attach(self, state):
        self.lazy = state.lazy
        self.cells = <const Cells*><size_t>state.lazy.address
        self.tokens = tally(state.words, state.n_words).astype(np.int32)
        arena, n_words = state.arena, max(state.n_words, 1)
        self.held_rows = arena.array("word_lazy.rows", n_words * (sizeof(Row) // 8), np.uint64)
        self.rows = <Row*>&self.held_rows[0]
        self.held_tables = arena.array("word_lazy.tables", n_words * state.n_topics, np.uint64, 0.25)
        self.tables = <Cell*>&self.held_tables[0]
        free(self.scratch)
        self.scratch = <float*>malloc(state.stride * sizeof(float))
        if self.scratch == NULL:
            raise MemoryError("no memory for the word proposal")
        self.by_words = self.kept_alone = True

    def refresh_words(self, state, Py_ssize_t first, Py_ssize_t last):
        """Sum up, and build the tables of the words that are drawn often."""
        cdef const Cells* c = <const Cells*><size_t>state.lazy.address
        cdef Py_ssize_t w
        cdef int k, b, n, n_topics = state.n_topics, place
        cdef int64_t used = <int64_t>first * n_topics
        cdef uint64_t listed
        cdef double total
        cdef const float* value
        cdef float[::1] mass = np.empty(n_topics, np.float32)
        cdef uint16_t[::1] topics = np.empty(n_topics, np.uint16)
        cdef int[::1] work = np.empty(n_topics, np.intc)
        cdef lf acc
        for w in range(first, last):
            value = c.values + c.blocks[w * c.n_blocks].first
            if self.tokens[w] < SELDOM:
                acc = l_set(0)
                for k in range(0, c.sizes[w], 16):
                    acc = l_add(acc, l_sub(l_load(value + k), l_up_to(l_load(value + k), c.threshold)))
                self.rows[w].sum = l_sum(acc)
                self.rows[w].n = 0
            else:
                n = 0
                total = 0
                for b in range(c.n_blocks):
                    listed = c.blocks[w * c.n_blocks + b].listed
                    while listed:
                        if value[0] > c.threshold:
                            mass[n] = value[0]
                            topics[n] = <uint16_t>(64 * b + lowest_bit(listed))
                            total += value[0]
                            n += 1
                        value += 1
                        listed &= listed - 1
                self.rows[w].sum = <float>total
                self.rows[w].n = n
                self.rows[w].start = used
                if n:
                    alias_build(self.tables + used, &mass[0], &topics[0], n, total, &work[0])
                used += n
            # a word that no topic has: an even draw
            self.rows[w].even = (self.rows[w].sum * BACKGROUND if self.rows[w].sum > 0 else 1) / n_topics

    cdef void draw(self, Document* d, int begin, int end, int32_t* codes, int step, Stream* s) noexcept nogil:
        cdef int i, k, w, n
        cdef const Cells* c = self.cells
        cdef const Row* row
        cdef const float* value
        cdef lf acc, part
        for i in range(begin, end):
            w = d.words[i]
            row = self.rows + w
            if i + 4 < d.length:
                l_prefetch(self.rows + d.words[i + 4])
                l_prefetch(c.blocks + <size_t>d.words[i + 4] * c.n_blocks)
            if i + 2 < d.length:
                if self.rows[d.words[i + 2]].n == 0:
                    l_prefetch(c.values + c.blocks[<size_t>d.words[i + 2] * c.n_blocks].first)
            if uniform(s) * (row.sum + d.n_topics * row.even) >= row.sum:
                codes[(i - begin) * step] = <int32_t>below(s, d.n_topics)
            elif row.n:
                codes[(i - begin) * step] = alias_draw(self.tables + row.start, row.n, bits(s))
            else:
                n = (c.sizes[w] + 15) & ~15
                value = c.values + c.blocks[<size_t>w * c.n_blocks].first
                acc = l_set(0)
                for k in range(0, n, 16):
                    part = l_sub(l_load(value + k), l_up_to(l_load(value + k), c.threshold))
                    acc = l_add(acc, part)
                    l_store(self.scratch + k, part)
                k = l_choose(self.scratch, n, acc, uniform(s))
                codes[(i - begin) * step] = (
                    STAY if k < 0 else nth_topic(c, w, c.blocks[<size_t>w * c.n_blocks].first + k))

    cdef void masses(self, Document* d, int position, const int32_t* topics, const float* a, const float* b,
                     const float* c, float* out) noexcept nogil:
        cdef int i
        cdef float even = self.rows[d.words[position]].even, threshold = self.cells.threshold
        for i in range(8):
            out[i] = even + (b[i] if b[i] > threshold else 0)
