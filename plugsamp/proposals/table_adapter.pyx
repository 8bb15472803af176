"""Drawing from tables of masses that were made in Python (`plugsamp.proposals.table`)."""
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.stdlib cimport free, realloc

from plugsamp.proposals.alias cimport Cell, alias_build, alias_draw
from plugsamp.proposals.base cimport STAY, Document, Proposal
from plugsamp.random.streams cimport Stream, bits

import numpy as np


cdef class TableAdapter(Proposal):
    """An alias table a row; the stated mass is the number that the table was built from."""

    cdef Cell* cells            # (rows, K)
    cdef int64_t room
    cdef float[:, ::1] rows     # (rows, K)
    cdef int64_t[::1] row_of    # of each word, or of each document of the block; -1 without one
    cdef bint by_document, for_all
    cdef int64_t first          # the block's first document
    cdef int64_t row            # of the document at hand, or 0

    def __cinit__(self):
        self.cells = NULL

    def __dealloc__(self):
        free(self.cells)

    def hold(self, n_words, by_document, for_all):
        self.by_document, self.for_all = by_document, for_all
        self.row_of = np.full(n_words, -1, np.int64)
        self.rows = np.zeros((0, 1), np.float32)

    def build(self, rows, used, first):
        """Alias tables of `rows` (n, K) float32 > 0, which are those of `used` (n,), words or documents."""
        cdef Py_ssize_t i, n = len(rows)
        cdef int k, n_topics = rows.shape[1]
        cdef int[::1] work = np.empty(n_topics, np.intc)
        cdef double total
        cdef Cell* grown
        if self.room < n * n_topics:
            grown = <Cell*>realloc(self.cells, n * n_topics * sizeof(Cell))
            if grown == NULL:
                raise MemoryError(f"no memory for {n} alias tables of {n_topics} topics")
            self.cells = grown
            self.room = n * n_topics
        self.rows = rows
        self.first = first
        if self.by_document:
            self.row_of = np.full(used.max(initial=-1) + 1, -1, np.int64)
        elif not self.for_all:
            np.asarray(self.row_of)[:] = -1
        if not self.for_all:
            np.asarray(self.row_of)[used] = np.arange(n)
        with nogil:
            for i in range(n):
                total = 0
                for k in range(n_topics):
                    total += self.rows[i, k]
                alias_build(self.cells + i * n_topics, &self.rows[i, 0], NULL, n_topics, total, &work[0])

    cdef int begin(self, Document* d, int begin, int end) noexcept nogil:
        self.row = self.row_of[d.index - self.first] if self.by_document else 0
        return 0

    cdef void draw(self, Document* d, int begin, int end, int32_t* codes, int step, Stream* s) noexcept nogil:
        cdef int i
        cdef int64_t row = self.row
        for i in range(begin, end):
            if not self.by_document and not self.for_all:
                row = self.row_of[d.words[i]]
            codes[(i - begin) * step] = alias_draw(self.cells + row * d.n_topics, d.n_topics, bits(s))

    cdef void masses(self, Document* d, int position, const int32_t* topics, const float* a, const float* b,
                     const float* c, float* out) noexcept nogil:
        cdef int i
        cdef int64_t row = self.row
        if not self.by_document and not self.for_all:
            row = self.row_of[d.words[position]]
        for i in range(8):
            out[i] = self.rows[row, topics[i]]
