"""The target π of a composed sampler, of eight topics of a token at once (model.md section 3)."""
from libc.stdint cimport int32_t, uint32_t

from plugsamp.kernels.lanes cimport *
from plugsamp.proposals.base cimport Document
from plugsamp.topics.cells cimport Cells, phi_at, phi_kept

cdef struct Work:
    int32_t* n          # n_dk of the document
    float* inverse      # 1 / (n_k + beta_bar), or 1
    double* f
    float* residual     # (κ_c - ω_c f_c) / N_d, all tokens in
    float* half         # ω_c / (2 N_d²)
    float* without      # the residual without the token at hand

cdef struct Eight:
    # a token's topic and seven candidates, in the first eight of each
    int32_t topics[16]
    float a[16]
    float b[16]
    float c[16]
    float score[16]
    double target[16]   # a tiny phi times a tiny score is no float


cdef inline void fill_residual(Work* q, Document* d) noexcept nogil:
    """f_dc from the counts, and what the scores need of it."""
    cdef int c, k
    cdef double share = 1.0 / d.length
    cdef const float* row
    for c in range(d.n_outputs):
        q.f[c] = 0
    for k in range(d.n_topics):
        if q.n[k]:
            row = d.eta + <size_t>k * d.output_stride
            for c in range(d.n_outputs):
                q.f[c] += q.n[k] * <double>row[c]
    for c in range(d.n_outputs):
        q.f[c] = q.f[c] * share + d.offset[c]
        q.residual[c] = <float>((d.kappa[c] - d.omega[c] * q.f[c]) * share)
        q.half[c] = <float>(0.5 * d.omega[c] * share * share)


cdef inline uint32_t evaluate(Work* q, Document* d, int position, int n, bint bounds, Eight* e) noexcept nogil:
    """a, b, c and π (up to a factor) of a token's topic and the n - 1 candidates after it.

    With `bounds`, a cell of lazy topics that is not kept has b = 0 and a bound of π, and its bit in what is
    returned: it is next to never accepted, and its value takes longer than all else.
    """
    cdef int l, o, w = d.words[position], s = e.topics[0]
    cdef const int32_t* t = e.topics
    cdef const int32_t* row_n = d.topic_word + <size_t>w * d.stride
    cdef float* score = e.score
    cdef int own  # whole numbers are subtracted first: (alpha + n) - 1 in floats loses a small alpha's digits
    cdef float beta = d.beta[w]
    cdef const float* mine
    cdef const float* row
    cdef float rest[16]
    cdef uint32_t small = 0
    cdef lf acc, weight, half
    if d.n_outputs:
        mine = d.eta + <size_t>s * d.output_stride
        for o in range(0, d.output_stride, 16):
            half = l_load(q.half + o)
            # taking the token out adds ω η_s / N² to the residual
            l_store(q.without + o, l_add(l_load(q.residual + o), l_mul(l_add(half, half), l_load(mine + o))))
        for l in range(n):
            row = d.eta + <size_t>t[l] * d.output_stride
            acc = l_set(0)
            for o in range(0, d.output_stride, 16):
                weight = l_load(row + o)
                acc = l_add(acc, l_mul(weight, l_sub(l_load(q.without + o), l_mul(l_load(q.half + o), weight))))
            score[l] = l_sum(acc)
    for l in range(n):
        own = 1 if t[l] == s else 0
        e.a[l] = d.alpha[t[l]] + (q.n[t[l]] - own)
        if d.phi == NULL and d.cells == NULL:
            e.b[l] = (row_n[t[l]] - own) + beta
            e.c[l] = q.inverse[t[l]]
            if t[l] == s:
                e.c[l] = 1 / (<float>(d.topic_totals[s] - 1) + <float>d.beta_sum)
        else:
            e.c[l] = 1
            if d.cells == NULL:
                e.b[l] = d.phi[<size_t>w * d.stride + t[l]]
            elif l == 0 or not bounds:
                e.b[l] = phi_at(<const Cells*>d.cells, w, t[l])
            elif not phi_kept(<const Cells*>d.cells, w, t[l], e.b + l):
                small |= <uint32_t>1 << l
        if d.n_outputs == 0:
            score[l] = 1
    for l in range(n, 8):
        e.a[l] = e.a[0]
        e.b[l] = e.b[0]
        e.c[l] = e.c[0]
        score[l] = score[0]
    if d.n_outputs:
        # exp is clamped to 87 below the largest: such a topic is never kept, and still can be left
        rest[0] = score[0]
        for l in range(1, 8):
            rest[0] = max(rest[0], score[l])
        for l in range(8, 16):
            score[l] = rest[0]
        l_store(score, l_exp(l_sub(l_load(score), l_set(rest[0]))))
    for l in range(8):
        e.target[l] = <double>e.a[l] * e.b[l] * e.c[l] * score[l]
    if small:
        for l in range(1, n):
            if small >> l & 1:
                e.b[l] = 0
    return small
