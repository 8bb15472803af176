"""A topic by document and word together: the sum over the document's topics, and a rest."""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free

from plugsamp.kernels.lanes cimport *
from plugsamp.proposals.base cimport STAY, Document, Proposal
from plugsamp.random.streams cimport Stream, uniform

import numpy as np


cdef class SparseProposal(Proposal):
    """Mass n_dk g_kw + the mass of another proposal, all without the token itself.

    g_kw is phi_kw, or (n_kw + beta_w)/(n_k + beta_sum). The first part is summed over the topics that the
    document has, anew for each token, and so is the draw: at the moment of use. With the rest alpha_k phi_kw
    this is the full conditional of a model without responses (Magnusson et al. 2018, alg. 1 and 2).

    Parameters
    ----------
    rest : Proposal
        Draws the rest; its masses are those of `totals`. One that draws ahead may copy tokens.
    scale : float or None
        Factor of the rest's masses; None: mean alpha over mean n_k + beta_sum, for masses n_kw + beta_w.
    scores : Proposal, optional
        Its masses, made for a part of a document and free of tokens, multiply the document's part, and
        their mean (by alpha) the rest.
    conditional : bool
        Whether the masses are (n_dk + alpha_k) phi_kw.
    """

    cdef Proposal rest, scores
    cdef object given_scale
    cdef float scale
    cdef float[::1] totals       # (V,) sums of the rest's masses
    # the document's topics: index[:size] in no order, count, weights of one token, and where a topic stands
    cdef int32_t* index
    cdef float* count
    cdef float* weight
    cdef int32_t* where
    cdef float* tilt             # (stride,) the masses of `scores`, or 1
    cdef float mean_tilt
    cdef int size, room
    cdef int ready               # the position whose weights are at hand, or -1
    cdef float lanes[16]         # their sums by lane
    cdef float document_mass

    def __init__(self, rest, scale=1.0, scores=None, conditional=False):
        self.rest, self.given_scale, self.scores = rest, scale, scores
        self.immediate = self.follows = True
        self.conditional = conditional

    def __dealloc__(self):
        self._release()

    def _release(self):
        free(self.index)
        free(self.count)
        free(self.weight)
        free(self.where)
        free(self.tilt)
        self.index = self.where = NULL
        self.count = self.weight = self.tilt = NULL

    def attach(self, state):
        cdef int k
        self._release()
        self.room = state.stride + 16
        self.index = <int32_t*>calloc(self.room, 4)
        self.count = <float*>calloc(self.room, 4)
        self.weight = <float*>calloc(self.room, 4)
        self.where = <int32_t*>calloc(self.room, 4)
        self.tilt = <float*>calloc(self.room, 4)
        if (self.index == NULL or self.count == NULL or self.weight == NULL or self.where == NULL
                or self.tilt == NULL):
            raise MemoryError(f"no memory for the sparse proposal's {state.n_topics} topics")
        for k in range(self.room):
            self.where[k] = -1
            self.tilt[k] = 1
        self.size = 0
        self.mean_tilt = 1
        self.rest.attach(state)
        if self.scores is not None:
            self.scores.attach(state)
        self.scale = 1.0 if self.given_scale is None else self.given_scale
        if self.given_scale is None:    # by alpha as it is at first, in every process
            held = state.arena.array("sparse.scale", 1, np.float32)
            if held[0] == 0:
                held[0] = state.alpha_sum / (len(state.words) + state.n_topics * state.beta_sum)
            self.scale = held[0]
        self.by_words = self.rest.by_words
        self.divides = self.rest.divides and (self.scores is None or self.scores.divides)

    def refresh_words(self, state, first, last):
        self.rest.refresh_words(state, first, last)

    def refresh(self, state, seed, sweep):
        self.rest.refresh(state, seed, sweep)
        self.totals = self.rest.sums

    def prepare(self, state, first, last):
        self.rest.prepare(state, first, last)

    cdef inline void add(self, int k) noexcept nogil:
        cdef int j = self.where[k]
        if j < 0:
            j = self.size
            self.where[k] = j
            self.index[j] = k
            self.count[j] = 0
            self.size += 1
        self.count[j] += 1

    cdef inline void drop(self, int k) noexcept nogil:
        cdef int j = self.where[k], last = self.size - 1
        self.count[j] -= 1
        if self.count[j] == 0:
            self.where[self.index[last]] = j
            self.index[j] = self.index[last]
            self.count[j] = self.count[last]
            self.where[k] = -1
            self.count[last] = 0       # what lies past the size weighs nothing
            self.index[last] = 0
            self.size = last

    cdef int begin(self, Document* d, int begin, int end) noexcept nogil:
        cdef int i, j, k
        cdef int32_t topics[8]
        cdef float mean = 0
        for j in range(self.size):
            self.where[self.index[j]] = -1
            self.count[j] = 0
            self.index[j] = 0
        self.size = 0
        for i in range(d.length):
            self.add(d.topics[i])
        self.ready = -1
        self.rest.begin(d, begin, end)
        self.copies = self.rest.copies
        if self.scores is not None and d.n_outputs:
            self.scores.begin(d, begin, end)
            for k in range(0, d.n_topics, 8):
                for j in range(8):
                    topics[j] = min(k + j, d.n_topics - 1)
                self.scores.masses(d, begin, topics, NULL, NULL, NULL, self.tilt + k)
            for k in range(d.n_topics):
                mean += d.alpha[k] * self.tilt[k]
            self.mean_tilt = <float>(mean / d.alpha_sum)
        return 0

    cdef void weigh(self, Document* d, int i) noexcept nogil:
        """The document's part for the token at position i."""
        cdef int g, l, k, w = d.words[i], s = d.topics[i], own = self.where[s]
        cdef float row[16]
        cdef float beta = d.beta[w]
        cdef lf acc = l_set(0), part
        cdef const float* phi = d.phi
        cdef const int32_t* n = d.topic_word + <size_t>w * d.stride
        self.count[own] -= 1
        if phi != NULL:
            phi += <size_t>w * d.stride
            if i + 2 < d.length:
                for l in range(self.size):
                    l_prefetch(d.phi + <size_t>d.words[i + 2] * d.stride + self.index[l])
        elif i + 2 < d.length:
            for l in range(self.size):
                l_prefetch(d.topic_word + <size_t>d.words[i + 2] * d.stride + self.index[l])
        for g in range(0, self.size, 16):
            if phi != NULL:
                for l in range(16):
                    row[l] = phi[self.index[g + l]]
            else:
                for l in range(16):
                    k = self.index[g + l]
                    row[l] = (n[k] + beta) * d.inverse[k]
                if g <= own < g + 16:      # its own topic, without it
                    row[own - g] = (n[s] - 1 + beta) / (<float>(d.topic_totals[s] - 1) + <float>d.beta_sum)
            part = l_mul(l_load(row), l_load(self.count + g))
            if self.scores is not None:
                for l in range(16):
                    row[l] = self.tilt[self.index[g + l]]
                part = l_mul(part, l_load(row))
            l_store(self.weight + g, part)
            acc = l_add(acc, part)
        self.count[own] += 1
        l_store(self.lanes, acc)
        self.document_mass = l_sum(acc)
        self.ready = i

    cdef void draw(self, Document* d, int begin, int end, int32_t* codes, int step, Stream* s) noexcept nogil:
        cdef int i, j
        cdef float rest, u
        for i in range(begin, end):
            if self.ready != i:
                self.weigh(d, i)
            rest = self.scale * self.mean_tilt * self.totals[d.words[i]]
            u = uniform(s) * (self.document_mass + rest)
            if u < self.document_mass:
                j = l_choose(self.weight, (self.size + 15) & ~15, l_load(self.lanes), u / self.document_mass)
                codes[(i - begin) * step] = self.index[j] if j >= 0 else STAY
            else:
                self.rest.draw(d, i, i + 1, codes + (i - begin) * step, step, s)

    cdef void masses(self, Document* d, int position, const int32_t* topics, const float* a, const float* b,
                     const float* c, float* out) noexcept nogil:
        cdef int l
        cdef float scale = self.scale * self.mean_tilt
        self.rest.masses(d, position, topics, a, b, c, out)
        for l in range(8):
            out[l] = (a[l] - d.alpha[topics[l]]) * b[l] * c[l] * self.tilt[topics[l]] + scale * out[l]

    cdef void moved(self, Document* d, int position, int before) noexcept nogil:
        self.drop(before)
        self.add(d.topics[position])
        self.ready = -1
        if self.rest.follows:
            self.rest.moved(d, position, before)
