"""The response factor of the dense kernel: S, the rows G_o, and the form that suits them (see dense_loop.pyx)."""
from libc.stdint cimport int32_t, int64_t, uint16_t

from plugsamp.kernels.lanes cimport *

cdef enum:
    REFRESH = 64        # moves between two fresh S, at most
    PRODUCT, SUM, DOUBLE
    PRODUCT_RANGE = 40
    SUM_RANGE = 1000

cdef struct Work:
    # the chain's arrays, K padded to `stride`
    int n_topics, stride, n_outputs
    bint collapsed
    const int32_t* words
    uint16_t* z
    int32_t* topic_word
    int64_t* topic_totals
    const float* phi
    const float* alpha
    const float* beta
    float beta_bar
    const float* eta    # (C, stride)
    # one document
    int length
    const double* kappa
    const double* omega
    const double* offset
    int32_t stamp       # its number in the call, from 1 on
    int form            # PRODUCT, SUM or DOUBLE
    int moves           # since S was made from the counts
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
    int32_t* stamps     # the document for which rows[o] was made
    float* coefficient  # ω_dc η_oc / N_d² of one topic o
    float top           # the largest S
    float step          # the largest G_kk
    float* quadratic    # ω_dc / N_d²
    float* linear       # (κ_dc - ω_dc f_dc) / N_d
    double* r64


cdef inline void fill_row(Work* q, int o) noexcept nogil:
    """G_o and its exp, unless the document has them already."""
    cdef int g, c
    cdef const float* eta_c = q.eta
    cdef float* row = q.rows + <size_t>o * q.stride
    cdef float* exp_row = q.exp_rows + <size_t>o * q.stride
    cdef lf s
    if q.stamps[o] == q.stamp:
        return
    q.stamps[o] = q.stamp
    for c in range(q.n_outputs):
        q.coefficient[c] = q.quadratic[c] * eta_c[c * q.stride + o]
    for g in range(0, q.stride, 16):
        s = l_set(0)
        for c in range(q.n_outputs):
            s = l_add(s, l_mul(l_set(q.coefficient[c]), l_load(eta_c + c * q.stride + g)))
        l_store(row + g, s)
        l_store(exp_row + g, l_exp(s))


cdef inline int fill_scores(Work* q) noexcept nogil:
    """S from the counts n_dk; returns the form that suits it."""
    cdef int g, c, k
    cdef const float* eta_c = q.eta
    cdef double f, share = 1.0 / q.length
    cdef lf s, e, top, low, big, square
    for c in range(q.n_outputs):
        f = 0
        for k in range(q.stride):
            f += q.n[k] * <double>eta_c[c * q.stride + k]
        q.r64[c] = (q.kappa[c] - q.omega[c] * (f * share + q.offset[c])) * share
        q.linear[c] = <float>q.r64[c]
        q.quadratic[c] = <float>(q.omega[c] * share * share)
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


cdef inline int which_form(Work* q, lf low) noexcept nogil:
    cdef float spread = q.top + l_top(l_sub(l_set(0), low))
    if spread < PRODUCT_RANGE and q.step < PRODUCT_RANGE:
        return PRODUCT
    return SUM if spread < SUM_RANGE and q.step < SUM_RANGE else DOUBLE


cdef inline void shift_scores(Work* q, int out, int come) noexcept nogil:
    """S after a token of one topic went out and one of another came in, and the form that suits it."""
    cdef int g
    cdef const float* out_row = q.rows + <size_t>out * q.stride
    cdef const float* in_row = q.rows + <size_t>come * q.stride
    cdef lf s, top = l_set(-3e38), low = l_set(3e38)
    for g in range(0, q.stride, 16):
        s = l_sub(l_as_is(l_add(l_load(q.scores + g), l_load(out_row + g))), l_load(in_row + g))
        top = l_max(top, s)
        low = l_min(low, s)
        l_store(q.scores + g, s)
    q.top = l_top(top)
    q.form = which_form(q, low)


cdef inline void fill_xi(Work* q) noexcept nogil:
    cdef int g
    cdef lf x = l_set(1)
    for g in range(0, q.stride, 16):
        if q.form == PRODUCT and q.n_outputs:
            x = l_exp(l_sub(l_load(q.scores + g), l_set(q.top)))
        l_store(q.x + g, x)
        l_store(q.xi + g, l_mul(x, l_mul(l_load(q.a + g), l_load(q.inverse + g))))


cdef inline void fill_double(Work* q) noexcept nogil:
    """S in double."""
    cdef int k, c
    cdef const float* eta_c = q.eta
    cdef double e, linear, half
    for k in range(q.stride):
        q.s64[k] = 0
    for c in range(q.n_outputs):
        linear, half = q.r64[c], 0.5 * q.quadratic[c]
        for k in range(q.stride):
            e = eta_c[c * q.stride + k]
            q.s64[k] += e * (linear - half * e)


cdef inline const double* row_in_double(Work* q, int o) noexcept nogil:
    """G_o in double, made where the document has none yet."""
    cdef int k, c
    cdef const float* eta_c = q.eta
    cdef double coefficient
    cdef double* row = q.rows64 + <size_t>o * q.stride
    if q.stamp64[o] == q.stamp:
        return row
    q.stamp64[o] = q.stamp
    for k in range(q.stride):
        row[k] = 0
    for c in range(q.n_outputs):
        coefficient = <double>q.quadratic[c] * eta_c[c * q.stride + o]
        for k in range(q.stride):
            row[k] += coefficient * eta_c[c * q.stride + k]
    return row


cdef inline double shift_double(Work* q, const double* out_row, const double* in_row) noexcept nogil:
    """S in double after a token of one topic went out and one of another came in; returns its spread."""
    cdef int k
    cdef double s, top = -1e300, low = 1e300
    for k in range(q.n_topics):
        s = q.s64[k] + out_row[k] - in_row[k]
        top = s if s > top else top
        low = s if s < low else low
        q.s64[k] = s
    return top - low


cdef inline void renew_scores(Work* q) noexcept nogil:
    """S from the counts, in the form that suits it."""
    q.moves = 0
    q.form = fill_scores(q)
    if q.form == DOUBLE:
        fill_double(q)


cdef inline void renew_in_double(Work* q) noexcept nogil:
    """S from the counts, in double until the scores are near each other again."""
    fill_scores(q)
    fill_double(q)
    q.form = DOUBLE


cdef inline void follow_move(Work* q, int o, int t) noexcept nogil:
    """S after a token of topic o has got topic t."""
    cdef double spread
    q.moves += 1
    if q.form == DOUBLE:
        spread = shift_double(q, row_in_double(q, o), row_in_double(q, t))
        if q.moves >= REFRESH or (spread < SUM_RANGE and q.step < SUM_RANGE):
            renew_scores(q)
    elif q.moves >= REFRESH:
        renew_scores(q)
    else:
        fill_row(q, t)
        shift_scores(q, o, t)
        if q.form == DOUBLE:
            renew_in_double(q)
    fill_xi(q)
