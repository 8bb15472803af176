"""The exp proposal: topics by what the responses say of them."""
from libc.stdint cimport int32_t, uint16_t
from libc.stdlib cimport free, malloc

from plugsamp.kernels.lanes cimport *
from plugsamp.proposals.alias cimport Cell, alias_build, alias_draw
from plugsamp.proposals.base cimport STAY, Document, Proposal
from plugsamp.random.streams cimport Stream, bits

import numpy as np


cdef class ExpProposal(Proposal):
    """Mass exp(s_dk(f_ref)), an alias table for each half of a document.

    f_ref is the linear predictor of the topics of the *other* half alone, which stay fixed while this
    half is updated; a table from the document's own full predictor would bias the chain.
    """

    cdef Cell* cells
    cdef float* table        # (stride,)
    cdef int* work
    cdef double* f
    cdef float* linear
    cdef float* quadratic
    cdef int32_t* n

    def __dealloc__(self):
        self._release()

    def _release(self):
        free(self.cells)
        free(self.table)
        free(self.work)
        free(self.f)
        free(self.linear)
        free(self.quadratic)
        free(self.n)
        self.cells = NULL
        self.table = self.linear = self.quadratic = NULL
        self.work = NULL
        self.f = NULL
        self.n = NULL

    def attach(self, state):
        cdef size_t stride = state.alpha.shape[0], outputs = state.eta_by_topic.shape[1] + 16
        self._release()
        self.divides = self.kept_alone = True
        self.cells = <Cell*>malloc(stride * sizeof(Cell))
        self.table = <float*>malloc(stride * sizeof(float))
        self.work = <int*>malloc(stride * sizeof(int))
        self.n = <int32_t*>malloc(stride * sizeof(int32_t))
        self.f = <double*>malloc(outputs * sizeof(double))
        self.linear = <float*>malloc(outputs * sizeof(float))
        self.quadratic = <float*>malloc(outputs * sizeof(float))
        if (self.cells == NULL or self.table == NULL or self.work == NULL or self.n == NULL or self.f == NULL
                or self.linear == NULL or self.quadratic == NULL):
            raise MemoryError("no memory for the tables of the exp proposal")

    def lazy_form(self):
        return self

    cdef int begin(self, Document* d, int begin, int end) noexcept nogil:
        cdef int i, k, c, others = d.length - (end - begin)
        cdef double share = 1.0 / d.length, total = 0, mean
        cdef float top = -3e38
        cdef const float* row
        cdef lf s, e
        for c in range(d.n_outputs):
            self.f[c] = 0
        for k in range(d.n_topics):
            self.n[k] = 0
        for i in range(d.length):
            if i < begin or i >= end:
                self.n[d.topics[i]] += 1
        if others > 0:
            mean = 1.0 / others
            for k in range(d.n_topics):
                if self.n[k]:
                    row = d.eta + <size_t>k * d.output_stride
                    for c in range(d.n_outputs):
                        self.f[c] += self.n[k] * mean * row[c]
        for c in range(d.output_stride):
            self.linear[c] = self.quadratic[c] = 0
        for c in range(d.n_outputs):
            self.linear[c] = <float>((d.kappa[c] - d.omega[c] * (self.f[c] + d.offset[c])) * share)
            self.quadratic[c] = <float>(0.5 * d.omega[c] * share * share)
        for k in range(d.n_topics):
            row = d.eta + <size_t>k * d.output_stride
            s = l_set(0)
            for c in range(0, d.output_stride, 16):
                e = l_load(row + c)
                s = l_add(s, l_mul(e, l_sub(l_load(self.linear + c), l_mul(l_load(self.quadratic + c), e))))
            self.table[k] = l_sum(s)
            top = max(top, self.table[k])
        for k in range(d.n_topics, d.stride):
            self.table[k] = top
        for k in range(0, d.stride, 16):
            l_store(self.table + k, l_exp(l_sub(l_load(self.table + k), l_set(top))))
        for k in range(d.n_topics):
            total += self.table[k]
        alias_build(self.cells, self.table, NULL, d.n_topics, total, self.work)
        return 0

    cdef void draw(self, Document* d, int begin, int end, int32_t* codes, int step, Stream* s) noexcept nogil:
        cdef int i
        for i in range(end - begin):
            codes[i * step] = alias_draw(self.cells, d.n_topics, bits(s))

    cdef void masses(self, Document* d, int position, const int32_t* topics, const float* a, const float* b,
                     const float* c, float* out) noexcept nogil:
        cdef int i
        for i in range(8):
            out[i] = self.table[topics[i]]
