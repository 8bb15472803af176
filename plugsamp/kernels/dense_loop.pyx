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

from plugsamp.kernels.dense_scores cimport (
    DOUBLE, PRODUCT, SUM, Work, fill_row, fill_xi, follow_move, renew_in_double, renew_scores, row_in_double
)
from plugsamp.kernels.lanes cimport *
from plugsamp.kernels.parts cimport first_at_least
from plugsamp.random.streams cimport Stream, open_stream, uniform
from plugsamp.system.interrupts cimport check_signals

cdef float NOTHING = 1e-25      # a sum of weights below which their digits are not trusted


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


cdef inline lf weigh_token(Work* q, int w, int o, const int32_t* n, const float* column) noexcept nogil:
    """The weights of a token of word w, which is out of topic o and of all counts; sums by lane."""
    cdef float beta = q.beta[w]
    cdef const double* row
    cdef const float* exp_row = NULL
    cdef lf acc
    if q.form == DOUBLE:
        row = row_in_double(q, o)
        acc = weigh_double(q, row, n, column, beta)
        if not l_sum(acc) > NOTHING:
            acc = weigh_logarithms(q, row, n, column, beta)
        return acc
    if q.n_outputs:
        fill_row(q, o)
        if q.form == SUM:
            return weigh_sums(q, q.rows + <size_t>o * q.stride, n, column, beta)
        exp_row = q.exp_rows + <size_t>o * q.stride
    return weigh(q, exp_row, n, column, beta)


cdef int choose_by_logarithms(Work* q, int w, int o, const int32_t* n, const float* column, float u) noexcept nogil:
    """The topic where every weight has underflowed, Φ's own."""
    cdef const double* row = NULL
    cdef int t
    cdef lf acc
    if q.n_outputs:
        q.n[o] += 1
        renew_in_double(q)
        q.n[o] -= 1
        row = row_in_double(q, o)
        fill_xi(q)
    acc = weigh_logarithms(q, row, n, column, q.beta[w])
    t = l_choose(q.w, q.stride, acc, u)
    return o if t < 0 else t


cdef inline void take_out(Work* q, int o, int32_t* n) noexcept nogil:
    q.n[o] -= 1
    q.a[o] = q.alpha[o] + q.n[o]     # from its exact parts: sums of floats would drift
    if q.collapsed:
        n[o] -= 1
        q.topic_totals[o] -= 1
        q.inverse[o] = 1 / (q.topic_totals[o] + q.beta_bar)
    q.xi[o] = q.a[o] * q.inverse[o] * q.x[o]


cdef inline void fetch_word(Work* q, int w) noexcept nogil:
    cdef int g
    if q.collapsed:
        for g in range(0, q.stride, 16):
            l_prefetch(q.topic_word + <size_t>w * q.stride + g)
    else:
        for g in range(0, q.stride, 16):
            l_prefetch(q.phi + <size_t>w * q.stride + g)


cdef inline bint update_token(Work* q, Py_ssize_t i, Stream* stream) noexcept nogil:
    """Draw the topic of token i; returns whether it is another one."""
    cdef int w = q.words[i], o = q.z[i], t
    cdef int32_t* n = NULL
    cdef const float* column = NULL
    cdef float u, inverse = q.inverse[o]
    cdef lf acc
    if q.collapsed:
        n = q.topic_word + <size_t>w * q.stride
    else:
        column = q.phi + <size_t>w * q.stride
    take_out(q, o, n)
    acc = weigh_token(q, w, o, n, column)
    u = uniform(stream)
    t = l_choose(q.w, q.stride, acc, u)
    if t < 0:
        t = choose_by_logarithms(q, w, o, n, column, u)
    q.n[t] += 1
    q.a[t] = q.alpha[t] + q.n[t]
    if q.collapsed:
        n[t] += 1
        q.topic_totals[t] += 1
        q.inverse[t] = inverse if t == o else 1 / (q.topic_totals[t] + q.beta_bar)
    if t != o:
        q.z[i] = <uint16_t>t
        if q.n_outputs:
            follow_move(q, o, t)
            return True
    q.xi[t] = q.a[t] * q.inverse[t] * q.x[t]
    return t != o


cdef class Room:
    """The memory of a call, and the arrays of the chain as it reads and writes them."""

    cdef Work q
    cdef const int64_t[::1] offsets
    cdef const int32_t[::1] words
    cdef uint16_t[::1] z
    cdef int32_t[:, ::1] topic_word
    cdef int64_t[::1] topic_totals
    cdef const float[::1] alpha, beta
    cdef const float[:, ::1] phi, eta
    cdef const double[:, ::1] kappa, omega, offset

    def __cinit__(self, state):
        cdef Work* q = &self.q
        cdef int k
        memset(q, 0, sizeof(Work))
        self.offsets, self.words, self.z = state.offsets, state.words, state.z
        counts = (state.topic_word, state.topic_totals) if state.phi is None else state.unread_counts
        self.topic_word, self.topic_totals = counts
        self.alpha, self.beta, self.phi, self.eta = state.alpha, state.beta, state.phi, state.eta_by_output
        self.kappa, self.omega, self.offset = state.kappa, state.omega, state.offset
        q.collapsed = self.phi is None
        q.words, q.z, q.topic_word, q.topic_totals = &self.words[0], &self.z[0], &self.topic_word[0, 0], &self.topic_totals[0]
        q.phi = NULL if q.collapsed else &self.phi[0, 0]
        q.alpha, q.beta, q.beta_bar = &self.alpha[0], &self.beta[0], state.beta_sum
        q.n_topics, q.stride, q.n_outputs = state.n_topics, <int>self.alpha.shape[0], <int>self.eta.shape[0]
        self._allocate()
        for k in range(q.n_topics):
            q.inverse[k] = <float>(1.0 / (q.topic_totals[k] + <double>state.beta_sum)) if q.collapsed else 1.0

    def _allocate(self):
        cdef Work* q = &self.q
        cdef size_t k = q.stride, c = q.n_outputs
        q.n, q.a, q.x, q.xi = <int32_t*>calloc(k, 4), <float*>calloc(k, 4), <float*>calloc(k, 4), <float*>calloc(k, 4)
        q.inverse, q.w, q.scores = <float*>calloc(k, 4), <float*>calloc(k, 4), <float*>calloc(k, 4)
        q.log_weight, q.s64 = <double*>calloc(k, 8), <double*>calloc(k, 8)
        made = NULL not in (q.n, q.a, q.x, q.xi, q.inverse, q.w, q.scores, q.log_weight, q.s64)
        if c:
            q.eta = &self.eta[0, 0]
            q.rows, q.exp_rows = <float*>malloc(k * k * 4), <float*>malloc(k * k * 4)
            q.rows64 = <double*>malloc(k * k * 8)     # no memory yet: few documents need it
            q.stamps, q.stamp64 = <int32_t*>calloc(k, 4), <int32_t*>calloc(k, 4)
            q.coefficient, q.linear, q.quadratic = <float*>calloc(c, 4), <float*>calloc(c, 4), <float*>calloc(c, 4)
            q.r64 = <double*>calloc(c, 8)
            made = made and NULL not in (q.rows, q.exp_rows, q.rows64, q.stamps, q.stamp64, q.coefficient, q.linear,
                                         q.quadratic, q.r64)
        if not made:
            raise MemoryError(f"no memory for the dense kernel's {q.stride} topics")

    def __dealloc__(self):
        for pointer in (<size_t>self.q.n, <size_t>self.q.a, <size_t>self.q.x, <size_t>self.q.xi, <size_t>self.q.inverse,
                        <size_t>self.q.w, <size_t>self.q.scores, <size_t>self.q.log_weight, <size_t>self.q.s64,
                        <size_t>self.q.rows, <size_t>self.q.exp_rows, <size_t>self.q.rows64, <size_t>self.q.stamps,
                        <size_t>self.q.stamp64, <size_t>self.q.coefficient, <size_t>self.q.linear,
                        <size_t>self.q.quadratic, <size_t>self.q.r64):
            free(<void*><size_t>pointer)

    cdef void begin_document(self, Py_ssize_t d, int32_t stamp) noexcept nogil:
        """Counts, scores and what follows from them of a document, the stamp-th of the call."""
        cdef Work* q = &self.q
        cdef Py_ssize_t i, begin = self.offsets[d], end = self.offsets[d + 1]
        cdef int g
        for g in range(0, q.stride, 16):
            l_store(q.a + g, l_load(q.alpha + g))
        memset(q.n, 0, q.stride * sizeof(int32_t))
        for i in range(begin, end):
            q.n[q.z[i]] += 1
            q.a[q.z[i]] = q.alpha[q.z[i]] + q.n[q.z[i]]
        q.stamp, q.form, q.length = stamp, PRODUCT, <int>(end - begin)
        if q.n_outputs:
            q.kappa, q.omega, q.offset = &self.kappa[d, 0], &self.omega[d, 0], &self.offset[d, 0]
            renew_scores(q)
        fill_xi(q)


def sample_documents(state, Py_ssize_t first, Py_ssize_t last, uint64_t key, int32_t first_word=0,
                     int32_t last_word=2147483647):
    """Draw the topics of documents first:last in place, those of words first_word:last_word.

    `state` has the arrays of the chain (plugsamp.state.State).

    Returns
    -------
    moved : tokens whose topic changed
    sums, doubles : tokens drawn in these forms
    """
    cdef Room room = Room(state)
    cdef Work* q = &room.q
    cdef Stream stream
    cdef Py_ssize_t d, i, begin, end, moved = 0, sums = 0, doubles = 0, waited = 0
    with nogil:
        open_stream(&stream, key)
        for d in range(first, last):
            begin = first_at_least(q.words, room.offsets[d], room.offsets[d + 1], first_word)
            end = first_at_least(q.words, begin, room.offsets[d + 1], last_word)
            if begin == end:
                continue
            room.begin_document(d, <int32_t>(d - first + 1))
            for i in range(begin, end):
                waited += q.stride
                check_signals(&waited)
                if i + 3 < end:
                    fetch_word(q, q.words[i + 3])
                doubles += q.form == DOUBLE
                sums += q.form == SUM
                moved += update_token(q, i, &stream)
    return moved, sums, doubles


def conditional(state, Py_ssize_t document, Py_ssize_t position, double[::1] out):
    """Put the full conditional of a token into `out` (K,), as the sampler computes it; nothing else changes."""
    cdef Room room = Room(state)
    cdef Work* q = &room.q
    cdef Py_ssize_t i = room.offsets[document] + position
    cdef int k, w = q.words[i], o = q.z[i]
    cdef int32_t* n = q.topic_word + <size_t>w * q.stride if q.collapsed else NULL
    cdef const float* column = NULL if q.collapsed else q.phi + <size_t>w * q.stride
    cdef double total = 0
    room.begin_document(document, 1)
    take_out(q, o, n)
    weigh_token(q, w, o, n, column)
    if q.collapsed:
        n[o] += 1
        q.topic_totals[o] += 1
    for k in range(q.n_topics):
        total += q.w[k]
    for k in range(q.n_topics):
        out[k] = q.w[k] / total
