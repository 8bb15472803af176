"""Dense Gibbs: every token drawn from its full conditional over all topics.

    p(z_di = k | rest)  ∝  (n_dk + α_k) · g_kw · exp(s_dk)        all without token i (model.md section 3)

The response factor is kept as S, the log-weights s_dk with *all* tokens of the document in place, and rows
G_o[k] = Σ_c ω_dc η_oc η_kc / N_d², made once for each topic o that the document meets: taking a token of
topic o out adds G_o to S, putting one in subtracts it. So the weight of k is a_k · g_kw · exp(S_k + G_ok):
no loop over outputs a token. Three forms of it, by what a document's scores are like:

- PRODUCT, nearly always: exp(S) · exp(G_o), both kept, so that there is no exp a token either;
- SUM, where that product could leave the range of floats: exp(S + G_o) a token;
- DOUBLE, where scores are so large that floats lack the digits (short documents under a high cost): S and G_o
  in double, and an exp a token of what is left of them below the largest. By logarithms throughout where even
  that leaves next to nothing (Φ's own cells can be that small).
"""
from libc.math cimport exp, log
from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from plugsamp.kernels.lanes cimport *
from plugsamp.kernels.parts cimport first_at_least
from plugsamp.random.streams cimport Stream, open_stream, uniform
from plugsamp.system.interrupts cimport check_signals

cdef enum:
    REFRESH = 64        # moves between two fresh S, at most
    PRODUCT, SUM, DOUBLE
cdef float PRODUCT_RANGE = 40, SUM_RANGE = 1000
cdef float NOTHING = 1e-25      # a sum of weights below which their digits are not trusted

cdef struct Work:
    # one document's working set, K padded to `stride`
    int n_topics, stride, n_outputs
    int32_t* n          # n_dk
    float* a            # n_dk + alpha_k
    float* x            # exp(S_k), the largest 1; or 1
    float* xi           # everything but the word's own factor and the row's: a_k exp(S_k) / (n_k + beta_bar)
    float* inverse      # 1 / (n_k + beta_bar), or 1 where Phi is a variable
    float* w            # the weights of one token
    float* rows         # G_o, a row a topic
    float* exp_rows     # exp(G_o)
    float* scores       # S
    double* log_weight
    double* s64         # S in double
    double* rows64      # G_o in double
    int32_t* stamp64
    int32_t* stamp      # the document for which rows[o] was made
    float* coefficient  # ω_dc η_oc / N_d² of one topic o
    float top           # the largest S
    float step          # the largest G_kk
    float* quadratic    # ω_dc / N_d²
    float* linear       # (κ_dc - ω_dc f_dc) / N_d
    double* r64


cdef void* room(size_t n, size_t size, size_t* failed) noexcept nogil:
    cdef void* p = calloc(n if n else 1, size)
    if p == NULL:
        failed[0] = 1
    return p


cdef void fill_row(Work* q, int o, const float* eta_c, int32_t stamp) noexcept nogil:
    """G_o and its exp, unless the document has them already. `eta_c` is (C, stride)."""
    cdef int g, c
    cdef float* row = q.rows + <size_t>o * q.stride
    cdef float* exp_row = q.exp_rows + <size_t>o * q.stride
    cdef lf s
    if q.stamp[o] == stamp:
        return
    q.stamp[o] = stamp
    for c in range(q.n_outputs):
        q.coefficient[c] = q.quadratic[c] * eta_c[c * q.stride + o]
    for g in range(0, q.stride, 16):
        s = l_set(0)
        for c in range(q.n_outputs):
            s = l_add(s, l_mul(l_set(q.coefficient[c]), l_load(eta_c + c * q.stride + g)))
        l_store(row + g, s)
        l_store(exp_row + g, l_exp(s))


cdef int fill_scores(Work* q, const float* eta_c, const double* kappa, const double* omega,
                     const double* offset, int length) noexcept nogil:
    """S from the counts n_dk; returns the form that suits it."""
    cdef int g, c, k
    cdef double f, share = 1.0 / length
    cdef lf s, e, top, low, big, square
    for c in range(q.n_outputs):
        f = 0
        for k in range(q.stride):
            f += q.n[k] * <double>eta_c[c * q.stride + k]
        q.r64[c] = (kappa[c] - omega[c] * (f * share + offset[c])) * share
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
        top = l_max(top, s)
        low = l_min(low, s)
        l_store(q.scores + g, s)
    # |G_ok| is at most the largest G_kk
    q.step = l_top(big)
    q.top = l_top(top)
    return which_form(q, low)


cdef int which_form(Work* q, lf low) noexcept nogil:
    cdef float spread = q.top + l_top(l_sub(l_set(0), low))
    if spread < PRODUCT_RANGE and q.step < PRODUCT_RANGE:
        return PRODUCT
    return SUM if spread < SUM_RANGE and q.step < SUM_RANGE else DOUBLE


cdef int shift_scores(Work* q, const float* out_row, const float* in_row) noexcept nogil:
    """S after a token of one topic went out and one of another came in; returns the form that suits it."""
    cdef int g
    cdef lf s, top = l_set(-3e38), low = l_set(3e38)
    for g in range(0, q.stride, 16):
        s = l_add(l_load(q.scores + g), l_sub(l_load(out_row + g), l_load(in_row + g)))
        top = l_max(top, s)
        low = l_min(low, s)
        l_store(q.scores + g, s)
    q.top = l_top(top)
    return which_form(q, low)


cdef void fill_xi(Work* q, int form) noexcept nogil:
    cdef int g
    cdef lf x = l_set(1)
    for g in range(0, q.stride, 16):
        if form == PRODUCT and q.n_outputs:
            x = l_exp(l_sub(l_load(q.scores + g), l_set(q.top)))
        l_store(q.x + g, x)
        l_store(q.xi + g, l_mul(x, l_mul(l_load(q.a + g), l_load(q.inverse + g))))


cdef void fill_double(Work* q, const float* eta_c) noexcept nogil:
    """S in double."""
    cdef int k, c
    cdef double e, linear, half
    for k in range(q.stride):
        q.s64[k] = 0
    for c in range(q.n_outputs):
        linear, half = q.r64[c], 0.5 * q.quadratic[c]
        for k in range(q.stride):
            e = eta_c[c * q.stride + k]
            q.s64[k] += e * (linear - half * e)


cdef const double* row_in_double(Work* q, int o, const float* eta_c, int32_t stamp) noexcept nogil:
    """G_o in double, made where the document has none yet."""
    cdef int k, c
    cdef double coefficient
    cdef double* row = q.rows64 + <size_t>o * q.stride
    if q.stamp64[o] == stamp:
        return row
    q.stamp64[o] = stamp
    for k in range(q.stride):
        row[k] = 0
    for c in range(q.n_outputs):
        coefficient = <double>q.quadratic[c] * eta_c[c * q.stride + o]
        for k in range(q.stride):
            row[k] += coefficient * eta_c[c * q.stride + k]
    return row


cdef double shift_double(Work* q, const double* out_row, const double* in_row) noexcept nogil:
    """S in double after a token of one topic went out and one of another came in; returns its spread."""
    cdef int k
    cdef double s, top = -1e300, low = 1e300
    for k in range(q.n_topics):
        s = q.s64[k] + out_row[k] - in_row[k]
        top = s if s > top else top
        low = s if s < low else low
        q.s64[k] = s
    return top - low


cdef lf weigh_double(Work* q, const double* row, const int32_t* n, const float* phi, float beta) noexcept nogil:
    """The weights of one token in DOUBLE form; token i is out of xi and n."""
    cdef int k, g
    cdef double s, top = -1e300
    cdef lf acc = l_set(0), w, b = l_set(beta)
    for k in range(q.n_topics):
        s = q.s64[k] + row[k]
        top = s if s > top else top
        q.log_weight[k] = s
    for k in range(q.n_topics):
        q.w[k] = <float>max(q.log_weight[k] - top, -1e30)
    for g in range(0, q.stride, 16):
        w = l_mul(l_mul(l_exp(l_load(q.w + g)), l_load(q.xi + g)), factor(n, phi, b, g))
        l_store(q.w + g, w)
        acc = l_add(acc, w)
    return acc


cdef lf weigh_logarithms(Work* q, const double* row, const int32_t* n, const float* phi, float beta) noexcept nogil:
    """The weights of one token, its largest 1, by logarithms; token i is out of a, n and inverse."""
    cdef int k, g
    cdef double top = -1e300, g_kw
    cdef lf acc = l_set(0)
    for k in range(q.n_topics):
        g_kw = phi[k] if phi != NULL else (n[k] + beta) * <double>q.inverse[k]
        if g_kw > 0:
            q.log_weight[k] = log(q.a[k] * g_kw)
            if row != NULL:
                q.log_weight[k] += q.s64[k] + row[k]
        else:
            q.log_weight[k] = -1e300
        top = max(top, q.log_weight[k])
    for k in range(q.n_topics):
        q.w[k] = <float>exp(q.log_weight[k] - top)
    for g in range(0, q.stride, 16):
        acc = l_add(acc, l_load(q.w + g))
    return acc


cdef lf factor(const int32_t* n, const float* phi, lf beta, int g) noexcept nogil:
    return l_load(phi + g) if phi != NULL else l_add(l_from_int(n + g), beta)


cdef lf weigh(Work* q, const float* exp_row, const int32_t* n, const float* phi, float beta) noexcept nogil:
    """The weights of one token of a word with counts `n` (or Φ column `phi`), in PRODUCT form; sums by lane."""
    cdef int g
    cdef lf acc = l_set(0), w, b = l_set(beta)
    for g in range(0, q.stride, 16):
        w = l_load(q.xi + g)
        if exp_row != NULL:
            w = l_mul(w, l_load(exp_row + g))
        w = l_mul(w, factor(n, phi, b, g))
        l_store(q.w + g, w)
        acc = l_add(acc, w)
    return acc


cdef lf weigh_sums(Work* q, const float* row, const int32_t* n, const float* phi, float beta) noexcept nogil:
    """The same in SUM form: one exp a topic, the largest 1."""
    cdef int g
    cdef lf acc = l_set(0), w, b = l_set(beta), top = l_set(-3e38)
    for g in range(0, q.stride, 16):
        w = l_add(l_load(q.scores + g), l_load(row + g))
        top = l_max(top, w)
        l_store(q.w + g, w)
    top = l_set(l_top(top))
    for g in range(0, q.stride, 16):
        w = l_mul(l_mul(l_exp(l_sub(l_load(q.w + g), top)), l_load(q.xi + g)), factor(n, phi, b, g))
        l_store(q.w + g, w)
        acc = l_add(acc, w)
    return acc


def sample_documents(const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last,
                     const int32_t[::1] words, uint16_t[::1] z,
                     int32_t[:, ::1] topic_word, int64_t[::1] topic_totals,
                     const float[:, ::1] phi, const float[::1] alpha, const float[::1] beta, double beta_sum,
                     const float[:, ::1] eta_c, const double[:, ::1] kappa, const double[:, ::1] omega,
                     const double[:, ::1] offset, uint64_t key, int32_t first_word=0, int32_t last_word=2147483647,
                     Py_ssize_t probe=-1, double[::1] out=None):
    """Draw the topics of documents first:last in place.

    Parameters
    ----------
    topic_word : (V, stride) counts by word; collapsed: kept current; partial: not looked at.
    topic_totals : (stride,); likewise.
    phi : (V, stride) or None; None means collapsed.
    eta_c : (C, stride); kappa, omega, offset : (last - first, C).
    first_word, last_word : only tokens of words first_word:last_word are drawn.
    probe : a position in document `first`; with it nothing is drawn: `out` (K,) gets the token's
        conditional as the sampler computes it.

    Returns
    -------
    moved : tokens whose topic changed
    sums, doubles : tokens drawn in these forms
    """
    cdef Work q
    cdef size_t failed = 0
    cdef bint collapsed = phi is None, responses = eta_c.shape[0] > 0
    cdef int K = out.shape[0] if out is not None else 0
    cdef int o, t, k, g, length, moves, position, form
    cdef Py_ssize_t d, i, begin, here, until, moved = 0, sums = 0, doubles = 0, waited = 0
    cdef int32_t stamp
    cdef float u, inverse, beta_bar = <float>beta_sum
    cdef const float* eta = NULL
    cdef const float* row = NULL
    cdef const float* exp_row = NULL
    cdef const float* column = NULL
    cdef const double* row64 = NULL
    cdef int32_t* n = NULL
    cdef const double* kd = NULL
    cdef const double* od = NULL
    cdef const double* fd = NULL
    cdef lf acc
    cdef Stream stream
    cdef double total, spread
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
    q.s64 = <double*>room(q.stride, 8, &failed)
    q.inverse = <float*>room(q.stride, 4, &failed)
    q.w = <float*>room(q.stride, 4, &failed)
    q.scores = <float*>room(q.stride, 4, &failed)
    q.log_weight = <double*>room(q.stride, 8, &failed)
    if responses:
        eta = &eta_c[0, 0]
        q.rows = <float*>malloc(<size_t>q.stride * q.stride * 4)
        q.exp_rows = <float*>malloc(<size_t>q.stride * q.stride * 4)
        failed = failed or q.rows == NULL or q.exp_rows == NULL
        q.coefficient = <float*>room(q.n_outputs, 4, &failed)
        q.stamp = <int32_t*>room(q.stride, 4, &failed)
        q.rows64 = <double*>malloc(<size_t>q.stride * q.stride * 8)     # no memory yet: few documents need it
        failed = failed or q.rows64 == NULL
        q.stamp64 = <int32_t*>room(q.stride, 4, &failed)
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
            for d in range(first, last):
                begin = offsets[d]
                length = <int>(offsets[d + 1] - begin)
                here = first_at_least(&words[0], begin, begin + length, first_word)
                until = first_at_least(&words[0], here, begin + length, last_word)
                if here == until:
                    continue
                stamp = <int32_t>(d - first + 1)
                for g in range(0, q.stride, 16):
                    l_store(q.a + g, l_load(&alpha[g]))
                memset(q.n, 0, q.stride * sizeof(int32_t))
                for i in range(begin, begin + length):
                    q.n[z[i]] += 1
                    q.a[z[i]] = alpha[z[i]] + q.n[z[i]]
                form = PRODUCT
                if responses:
                    kd = &kappa[d - first, 0]
                    od = &omega[d - first, 0]
                    fd = &offset[d - first, 0]
                    form = fill_scores(&q, eta, kd, od, fd, length)
                    if form == DOUBLE:
                        fill_double(&q, eta)
                fill_xi(&q, form)
                moves = 0
                for i in range(here, until):
                    waited += q.stride
                    check_signals(&waited)
                    position = <int>(i - begin)
                    if probe >= 0 and position != probe:
                        continue
                    if collapsed:
                        n = &topic_word[words[i], 0]
                        if i + 3 < until:
                            for g in range(0, q.stride, 16):
                                l_prefetch(&topic_word[words[i + 3], g])
                    else:
                        column = &phi[words[i], 0]
                        if i + 3 < until:
                            for g in range(0, q.stride, 16):
                                l_prefetch(&phi[words[i + 3], g])
                    o = z[i]
                    q.n[o] -= 1
                    q.a[o] = alpha[o] + q.n[o]     # from its exact parts: sums of floats would drift
                    if collapsed:
                        n[o] -= 1
                        topic_totals[o] -= 1
                        inverse = q.inverse[o]
                        q.inverse[o] = 1 / (topic_totals[o] + beta_bar)
                    q.xi[o] = q.a[o] * q.inverse[o] * q.x[o]
                    if form == DOUBLE:
                        doubles += 1
                        row64 = row_in_double(&q, o, eta, stamp)
                        acc = weigh_double(&q, row64, n, column, beta[words[i]])
                        if not l_sum(acc) > NOTHING:
                            acc = weigh_logarithms(&q, row64, n, column, beta[words[i]])
                    elif not responses:
                        acc = weigh(&q, NULL, n, column, beta[words[i]])
                    else:
                        fill_row(&q, o, eta, stamp)
                        row = q.rows + <size_t>o * q.stride
                        exp_row = q.exp_rows + <size_t>o * q.stride
                        if form == PRODUCT:
                            acc = weigh(&q, exp_row, n, column, beta[words[i]])
                        else:
                            sums += 1
                            acc = weigh_sums(&q, row, n, column, beta[words[i]])
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
                        if t < 0:       # every weight underflowed, Φ's own: once more, by logarithms
                            if responses:
                                q.n[o] += 1
                                fill_scores(&q, eta, kd, od, fd, length)
                                fill_double(&q, eta)
                                q.n[o] -= 1
                                row64 = row_in_double(&q, o, eta, stamp)
                                form = DOUBLE       # until the scores are near each other again
                                fill_xi(&q, form)
                            acc = weigh_logarithms(&q, row64, n, column, beta[words[i]])
                            t = l_choose(q.w, q.stride, acc, u)
                            t = o if t < 0 else t
                    q.n[t] += 1
                    q.a[t] = alpha[t] + q.n[t]
                    if collapsed:
                        n[t] += 1
                        topic_totals[t] += 1
                        q.inverse[t] = inverse if t == o else 1 / (topic_totals[t] + beta_bar)
                    if t != o:
                        moved += 1
                        moves += 1
                        z[i] = <uint16_t>t
                        if responses:
                            if form == DOUBLE:
                                spread = shift_double(&q, row64, row_in_double(&q, t, eta, stamp))
                                if moves >= REFRESH or (spread < SUM_RANGE and q.step < SUM_RANGE):
                                    moves = 0
                                    form = fill_scores(&q, eta, kd, od, fd, length)
                                    if form == DOUBLE:
                                        fill_double(&q, eta)
                            elif moves >= REFRESH:
                                moves = 0
                                form = fill_scores(&q, eta, kd, od, fd, length)
                                if form == DOUBLE:
                                    fill_double(&q, eta)
                            else:
                                fill_row(&q, t, eta, stamp)
                                form = shift_scores(&q, row, q.rows + <size_t>t * q.stride)
                                if form == DOUBLE:
                                    fill_scores(&q, eta, kd, od, fd, length)
                                    fill_double(&q, eta)
                            fill_xi(&q, form)
                            continue
                    q.xi[t] = q.a[t] * q.inverse[t] * q.x[t]
    finally:
        for pointer in (<size_t>q.n, <size_t>q.a, <size_t>q.x, <size_t>q.xi, <size_t>q.inverse, <size_t>q.w, <size_t>q.scores,
                        <size_t>q.log_weight, <size_t>q.rows, <size_t>q.exp_rows, <size_t>q.stamp, <size_t>q.s64,
                        <size_t>q.coefficient,
                        <size_t>q.r64, <size_t>q.linear, <size_t>q.quadratic, <size_t>q.rows64, <size_t>q.stamp64):
            free(<void*><size_t>pointer)
    return moved, sums, doubles
