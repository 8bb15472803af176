"""Dense Gibbs: every token drawn from its full conditional over all topics.

    p(z_di = k | rest)  ∝  (n_dk + α_k) · g_kw · exp(s_dk)        all without token i (MODEL section 3)

The response factor is kept as X = exp(S), S_k the log-weight with *all* tokens of the document in place,
and rows G_o[k] = Σ_c ω_dc η_oc η_kc / N_d², made once for each topic o that the document meets. Taking a
token of topic o out adds G_o to S, putting one in subtracts it; so the weight of k is
a_k · X_k · exp(G_ok) · g_kw: no loop over outputs and no exp a token.

X drifts multiplicatively, hence it is made anew after a number of moves that keeps the drift within
float range. Documents where single steps are too large for that (short ones under a high cost) take the
same conditional in double logarithms.
"""
from libc.math cimport exp, log
from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from plugsamp.kernels.lanes cimport *
from plugsamp.random.streams cimport Stream, open_stream, uniform

cdef enum:
    REFRESH = 64        # moves between two fresh X, at most
cdef float DRIFT = 20   # how far log X may wander in between
cdef float RANGE = 45   # how far apart the log X of a document may lie in the float path

cdef struct Work:
    # one document's working set, K padded to `stride`
    int n_topics, stride, n_outputs
    int32_t* n          # n_dk
    float* a            # n_dk + alpha_k
    float* x            # X
    float* xi           # a_k X_k / (n_k + beta_bar): everything but the word's own factor
    float* inverse      # 1 / (n_k + beta_bar), or 1 where Phi is a variable
    float* w            # the weights of one token
    float* rows         # exp(G_o), a row a topic
    float* scores       # S
    double* log_weight
    double* s64         # S in double, for the logarithmic path
    int32_t* stamp      # the document for which rows[o] was made
    double* f           # linear predictor, all tokens in
    float* quadratic    # ω_dc / N_d²
    float* linear       # (κ_dc - ω_dc f_dc) / N_d
    double* r64


cdef void* room(size_t n, size_t size, size_t* failed) noexcept nogil:
    cdef void* p = calloc(n if n else 1, size)
    if p == NULL:
        failed[0] = 1
    return p


cdef int fill_row(Work* q, int o, const float* eta_c, int32_t stamp) noexcept nogil:
    """exp(G_o), unless the document has it already. `eta_c` is (C, stride)."""
    cdef int g, c
    cdef float* row = q.rows + <size_t>o * q.stride
    cdef lf s
    if q.stamp[o] == stamp:
        return 0
    q.stamp[o] = stamp
    for g in range(0, q.stride, 16):
        s = l_set(0)
        for c in range(q.n_outputs):
            s = l_add(s, l_mul(l_set(q.quadratic[c] * eta_c[c * q.stride + o]), l_load(eta_c + c * q.stride + g)))
        l_store(row + g, l_exp(s))
    return 1


cdef float fill_scores(Work* q, const float* eta_c, const double* kappa, const double* omega,
                       const double* offset, int length, float* step) noexcept nogil:
    """S and X from the counts n_dk; returns the range of S and, in `step`, the largest G."""
    cdef int g, c, k
    cdef double f, share = 1.0 / length
    cdef lf s, e, top, low, big, square
    cdef float highest
    for c in range(q.n_outputs):
        f = 0
        for k in range(q.stride):
            f += q.n[k] * <double>eta_c[c * q.stride + k]
        q.f[c] = f * share + offset[c]
        q.r64[c] = (kappa[c] - omega[c] * q.f[c]) * share
        q.linear[c] = <float>q.r64[c]
        q.quadratic[c] = <float>(omega[c] * share * share)
    top = l_set(-3e38)
    low = l_set(3e38)
    big = l_set(0)
    for g in range(0, q.stride, 16):
        s = l_set(0)
        square = l_set(0)
        for c in range(q.n_outputs):
            e = l_load(eta_c + c * q.stride + g)
            s = l_add(s, l_mul(l_set(q.linear[c]), e))
            square = l_add(square, l_mul(l_set(q.quadratic[c]), l_mul(e, e)))
        s = l_sub(s, l_mul(l_set(0.5), square))
        big = l_max(big, square)
        l_store(q.scores + g, s)
        if g + 16 <= q.n_topics:
            top = l_max(top, s)
            low = l_min(low, s)
    highest = l_top(top)
    step[0] = l_top(big)
    cdef float lowest = -l_top(l_sub(l_set(0), low))
    for k in range(q.n_topics & ~15, q.n_topics):
        highest = max(highest, q.scores[k])
        lowest = min(lowest, q.scores[k])
    for g in range(0, q.stride, 16):
        l_store(q.x + g, l_exp(l_sub(l_load(q.scores + g), l_set(highest))))
    return highest - lowest


cdef void fill_xi(Work* q) noexcept nogil:
    cdef int g
    for g in range(0, q.stride, 16):
        l_store(q.xi + g, l_mul(l_mul(l_load(q.a + g), l_load(q.x + g)), l_load(q.inverse + g)))


cdef void fill_logarithms(Work* q, const float* eta_c) noexcept nogil:
    """S in double, for the logarithmic path."""
    cdef int k, c
    cdef double e, s
    for k in range(q.n_topics):
        s = 0
        for c in range(q.n_outputs):
            e = eta_c[c * q.stride + k]
            s += e * (q.r64[c] - 0.5 * q.quadratic[c] * e)
        q.s64[k] = s


cdef double coupling(Work* q, const float* eta_c, int o, int k) noexcept nogil:
    cdef int c
    cdef double s = 0
    for c in range(q.n_outputs):
        s += <double>q.quadratic[c] * eta_c[c * q.stride + o] * eta_c[c * q.stride + k]
    return s


cdef lf weigh_logarithms(Work* q, const float* eta_c, const int32_t* n, const float* phi, float beta,
                         int o) noexcept nogil:
    """The weights of one token, its largest 1, by logarithms; token i is out of a, n and inverse."""
    cdef int k, g
    cdef double top = -1e300, g_kw
    cdef lf acc = l_set(0)
    for k in range(q.n_topics):
        g_kw = phi[k] if phi != NULL else (n[k] + beta) * <double>q.inverse[k]
        if g_kw > 0:
            q.log_weight[k] = log(q.a[k] * g_kw) + q.s64[k] + coupling(q, eta_c, o, k)
        else:
            q.log_weight[k] = -1e300
        top = max(top, q.log_weight[k])
    for k in range(q.n_topics):
        q.w[k] = <float>exp(q.log_weight[k] - top)
    for g in range(0, q.stride, 16):
        acc = l_add(acc, l_load(q.w + g))
    return acc


cdef lf weigh(Work* q, const float* row, const int32_t* n, const float* phi, float beta) noexcept nogil:
    """The weights of one token of a word with counts `n` (or Φ column `phi`); row = exp(G_o) or NULL."""
    cdef int g
    cdef lf acc = l_set(0), w, b = l_set(beta)
    if phi != NULL:
        if row != NULL:
            for g in range(0, q.stride, 16):
                w = l_mul(l_mul(l_load(q.xi + g), l_load(row + g)), l_load(phi + g))
                l_store(q.w + g, w)
                acc = l_add(acc, w)
        else:
            for g in range(0, q.stride, 16):
                w = l_mul(l_load(q.xi + g), l_load(phi + g))
                l_store(q.w + g, w)
                acc = l_add(acc, w)
    elif row != NULL:
        for g in range(0, q.stride, 16):
            w = l_mul(l_mul(l_load(q.xi + g), l_load(row + g)), l_add(l_from_int(n + g), b))
            l_store(q.w + g, w)
            acc = l_add(acc, w)
    else:
        for g in range(0, q.stride, 16):
            w = l_mul(l_load(q.xi + g), l_add(l_from_int(n + g), b))
            l_store(q.w + g, w)
            acc = l_add(acc, w)
    return acc


def sample_documents(const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last,
                     const int32_t[::1] words, uint16_t[::1] z,
                     int32_t[:, ::1] topic_word, int64_t[::1] topic_totals,
                     const float[:, ::1] phi, const float[::1] alpha, const float[::1] beta, double beta_sum,
                     const float[:, ::1] eta_c, const double[:, ::1] kappa, const double[:, ::1] omega,
                     const double[:, ::1] offset, uint64_t key, Py_ssize_t probe=-1, double[::1] out=None):
    """Draw the topics of documents first:last in place.

    Parameters
    ----------
    topic_word : (V, stride) counts by word; collapsed: kept current; partial: moved tokens are re-counted.
    topic_totals : (stride,); collapsed: kept current; partial: the changes are added.
    phi : (V, stride) or None; None means collapsed.
    eta_c : (C, stride); kappa, omega, offset : (last - first, C).
    probe : a position in document `first`; with it nothing is drawn: `out` (K,) gets the token's
        conditional as the sampler computes it.

    Returns
    -------
    moved : tokens whose topic changed
    slow : tokens that took the logarithmic path
    """
    cdef Work q
    cdef size_t failed = 0
    cdef bint collapsed = phi is None, responses = eta_c.shape[0] > 0, exact, fast
    cdef int K = out.shape[0] if out is not None else 0
    cdef int o, t, k, g, length, moves, budget, position
    cdef Py_ssize_t d, i, begin, moved = 0, slow = 0
    cdef int32_t stamp
    cdef float spread, step, u
    cdef const float* eta = NULL
    cdef const float* row
    cdef const float* column = NULL
    cdef int32_t* n = NULL
    cdef const double* kd = NULL
    cdef const double* od = NULL
    cdef const double* fd = NULL
    cdef lf acc
    cdef Stream stream
    cdef double total
    memset(&q, 0, sizeof(q))
    q.stride = <int>alpha.shape[0]
    q.n_outputs = <int>eta_c.shape[0]
    q.n_topics = q.stride
    while q.n_topics > 0 and alpha[q.n_topics - 1] == 0:   # padding: a real alpha is above 0
        q.n_topics -= 1
    q.n = <int32_t*>room(q.stride, 4, &failed)
    q.a = <float*>room(q.stride, 4, &failed)
    q.x = <float*>room(q.stride, 4, &failed)
    q.xi = <float*>room(q.stride, 4, &failed)
    q.inverse = <float*>room(q.stride, 4, &failed)
    q.w = <float*>room(q.stride, 4, &failed)
    q.scores = <float*>room(q.stride, 4, &failed)
    q.log_weight = <double*>room(q.stride, 8, &failed)
    if responses:
        eta = &eta_c[0, 0]
        q.rows = <float*>room(<size_t>q.stride * q.stride, 4, &failed)
        q.stamp = <int32_t*>room(q.stride, 4, &failed)
        q.s64 = <double*>room(q.stride, 8, &failed)
        q.f = <double*>room(q.n_outputs, 8, &failed)
        q.r64 = <double*>room(q.n_outputs, 8, &failed)
        q.linear = <float*>room(q.n_outputs, 4, &failed)
        q.quadratic = <float*>room(q.n_outputs, 4, &failed)
    try:
        if failed:
            raise MemoryError(f"no memory for the dense kernel's {q.stride} topics")
        with nogil:
            open_stream(&stream, key)
            for k in range(q.n_topics):
                q.inverse[k] = <float>(1.0 / (topic_totals[k] + beta_sum)) if collapsed else 1.0
            for k in range(q.stride):
                q.x[k] = 1
            row = NULL
            for d in range(first, last):
                begin = offsets[d]
                length = <int>(offsets[d + 1] - begin)
                if length == 0:
                    continue
                stamp = <int32_t>(d - first + 1)
                for g in range(0, q.stride, 16):
                    l_store(q.a + g, l_load(&alpha[g]))
                memset(q.n, 0, q.stride * sizeof(int32_t))
                for i in range(begin, begin + length):
                    q.n[z[i]] += 1
                    q.a[z[i]] = alpha[z[i]] + q.n[z[i]]
                exact = False
                budget = REFRESH
                if responses:
                    kd = &kappa[d - first, 0]
                    od = &omega[d - first, 0]
                    fd = &offset[d - first, 0]
                    spread = fill_scores(&q, eta, kd, od, fd, length, &step)
                    if 2 * step * REFRESH > DRIFT:
                        budget = <int>(DRIFT / (2 * step)) if step < DRIFT else 0
                    exact = not (spread < RANGE) or budget < 4
                    if exact:
                        fill_logarithms(&q, eta)
                        slow += length
                if not exact:
                    fill_xi(&q)
                moves = 0
                for i in range(begin, begin + length):
                    position = <int>(i - begin)
                    if probe >= 0 and position != probe:
                        continue
                    if collapsed:
                        n = &topic_word[words[i], 0]
                        if i + 3 < begin + length:
                            for g in range(0, q.stride, 16):
                                l_prefetch(&topic_word[words[i + 3], g])
                    else:
                        column = &phi[words[i], 0]
                        if i + 3 < begin + length:
                            for g in range(0, q.stride, 16):
                                l_prefetch(&phi[words[i + 3], g])
                    o = z[i]
                    q.n[o] -= 1
                    q.a[o] = alpha[o] + q.n[o]     # from its exact parts: sums of floats would drift
                    if collapsed:
                        n[o] -= 1
                        topic_totals[o] -= 1
                        q.inverse[o] = <float>(1.0 / (topic_totals[o] + beta_sum))
                    if exact:
                        acc = weigh_logarithms(&q, eta, n, column, beta[words[i]], o)
                    else:
                        q.xi[o] = q.a[o] * q.x[o] * q.inverse[o]
                        if responses:
                            fill_row(&q, o, eta, stamp)
                            row = q.rows + <size_t>o * q.stride
                        acc = weigh(&q, row, n, column, beta[words[i]])
                    if probe >= 0:
                        total = 0
                        for k in range(q.n_topics):
                            total += q.w[k]
                        for k in range(K):
                            out[k] = q.w[k] / total
                        t = o
                    else:
                        u = uniform(&stream)
                        t = l_choose(q.w, q.stride, acc, u)
                        if t < 0:       # every weight underflowed: once more, by logarithms
                            if responses and not exact:
                                fill_scores(&q, eta, kd, od, fd, length, &step)
                                fill_logarithms(&q, eta)
                            slow += 1
                            acc = weigh_logarithms(&q, eta, n, column, beta[words[i]], o)
                            t = l_choose(q.w, q.stride, acc, u)
                            if t < 0:
                                t = o
                    q.n[t] += 1
                    q.a[t] = alpha[t] + q.n[t]
                    if collapsed:
                        n[t] += 1
                        topic_totals[t] += 1
                        q.inverse[t] = <float>(1.0 / (topic_totals[t] + beta_sum))
                    if t != o:
                        moved += 1
                        moves += 1
                        z[i] = <uint16_t>t
                        if not collapsed:
                            l_add_shared(&topic_word[words[i], o], -1)
                            l_add_shared(&topic_word[words[i], t], 1)
                            topic_totals[o] -= 1
                            topic_totals[t] += 1
                        if responses:
                            if exact or moves >= budget:
                                moves = 0
                                spread = fill_scores(&q, eta, kd, od, fd, length, &step)
                                if exact:
                                    fill_logarithms(&q, eta)
                                elif not (spread < RANGE):
                                    exact = True
                                    fill_logarithms(&q, eta)
                                    slow += begin + length - i - 1
                                else:
                                    fill_xi(&q)
                            else:
                                fill_row(&q, t, eta, stamp)
                                column = q.rows + <size_t>t * q.stride
                                for g in range(0, q.stride, 16):
                                    l_store(q.x + g, l_mul(l_load(q.x + g), l_div(l_load(row + g), l_load(column + g))))
                                fill_xi(&q)
                                column = NULL
                    if not exact:
                        q.xi[t] = q.a[t] * q.x[t] * q.inverse[t]
    finally:
        for pointer in (<size_t>q.n, <size_t>q.a, <size_t>q.x, <size_t>q.xi, <size_t>q.inverse, <size_t>q.w, <size_t>q.scores,
                        <size_t>q.log_weight, <size_t>q.rows, <size_t>q.stamp, <size_t>q.s64, <size_t>q.f,
                        <size_t>q.r64, <size_t>q.linear, <size_t>q.quadratic):
            free(<void*><size_t>pointer)
    return moved, slow
