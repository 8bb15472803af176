"""FastLDA: a token drawn after a look at few of its topics (Porteous et al. 2008, alg. 4.1, model.md section 3).

    p(z_di = k | rest)  ∝  a_k b_k c_k,    a_k = n_dk + α_k,  b_k = n_kw + β_w,  c_k = 1 / (n_k + β̄)

all without token i. Topics are visited in descending n_dk, `batch` between two looks at the bound: after l
of them their masses sum to S_l, and Hölder's inequality bounds the sum of all, Z <= Z_l = S_l + |a'| |b'| |c|,
a' and b' what is not visited. Any increasing sequence of l makes the draw exact.

Norms: those of a from counts and, for asymmetric α, a sum made anew for each document; those of b from whole
numbers kept by word; min n_k and |c|_3 are kept for a block. Tails are differences, in double precision; norms
are taken a little too long (`SLACK`), so that no rounding makes a bound fail.
"""
from libc.math cimport cbrt, sqrt
from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from plugsamp.kernels.lanes cimport l_prefetch
from plugsamp.kernels.parts cimport first_at_least
from plugsamp.random.streams cimport Stream, open_stream, uniform53
from plugsamp.system.interrupts cimport check_signals

cdef double SLACK = 1 + 1e-13

cdef struct Work:
    int n_topics, batch, power      # power: 2 for the bound 2-2-inf, 3 for 3-3-3
    int32_t* n                      # n_dk
    int32_t* order                  # topics by descending n_dk
    int32_t* position               # where each stands
    int used                        # topics with n_dk > 0
    double* a                       # n_dk + alpha_k, in that order
    double* c                       # 1 / (n_k + beta_bar)
    double* w                       # masses, in that order
    double* alpha
    double sums[4]                  # over the tokens of the document, see `tally`
    double alpha_norm               # over k: alpha^power
    int64_t low                     # the smallest n_k
    double c_cubes                  # over k: c^3
    double beta_sum
    int64_t* totals


cdef inline void tally(Work* q, int k, double by) noexcept nogil:
    """Change the sums behind the norm of a as n_dk goes by one, from n_dk before."""
    cdef double n = q.n[k], m = n + by, alpha = q.alpha[k]
    if q.power == 2:
        q.sums[1] += by * alpha
        q.sums[2] += m * m - n * n
    else:
        q.sums[1] += by * alpha * alpha
        q.sums[2] += alpha * (m * m - n * n)
        q.sums[3] += m * m * m - n * n * n


cdef inline double norm_a(Work* q) noexcept nogil:
    """The sum of a^power."""
    if q.power == 2:
        return q.sums[2] + 2 * q.sums[1] + q.alpha_norm
    return q.sums[3] + 3 * q.sums[2] + 3 * q.sums[1] + q.alpha_norm


cdef inline double norm_b(Work* q, double beta, double first, double second, double third) noexcept nogil:
    """The sum of b^power from the sums of n_kw, n_kw^2 and n_kw^3."""
    if q.power == 2:
        return second + 2 * beta * first + q.n_topics * beta * beta
    return third + 3 * beta * second + 3 * beta * beta * first + q.n_topics * beta * beta * beta


cdef inline double tail_norm(Work* q, double a, double b) noexcept nogil:
    if a <= 0 or b <= 0:
        return 0
    return sqrt(a * b) if q.power == 2 else cbrt(a * b)


cdef inline void exchange(Work* q, int i, int j) noexcept nogil:
    cdef int k = q.order[i], l = q.order[j]
    q.order[i], q.order[j] = l, k
    q.position[k], q.position[l] = j, i
    q.a[i], q.a[j] = q.a[j], q.a[i]


cdef inline void less(Work* q, int k) noexcept nogil:
    """One token of the document less in k: behind the last topic that has as many."""
    cdef int i = q.position[k], j = i, n = q.n[k]
    tally(q, k, -1)
    while j + 1 < q.used and q.n[q.order[j + 1]] == n:
        j += 1
    if i != j:
        exchange(q, i, j)
    q.n[k] = n - 1
    q.a[j] = q.n[k] + q.alpha[k]
    q.used -= n == 1


cdef inline void more(Work* q, int k) noexcept nogil:
    """One more: before the first topic that has as many."""
    cdef int i = q.position[k], j = i, n = q.n[k]
    tally(q, k, 1)
    if n == 0:
        j = q.used
        q.used += 1
    else:
        while j > 0 and q.n[q.order[j - 1]] == n:
            j -= 1
    if i != j:
        exchange(q, i, j)
    q.n[k] = n + 1
    q.a[j] = q.n[k] + q.alpha[k]


cdef void find_low(Work* q) noexcept nogil:
    cdef int k
    q.low = q.totals[0]
    for k in range(1, q.n_topics):
        q.low = min(q.low, q.totals[k])


cdef inline void total(Work* q, int k, int by) noexcept nogil:
    cdef double before = q.c[k]
    q.totals[k] += by
    q.c[k] = 1.0 / (q.totals[k] + q.beta_sum)
    if q.power == 3:
        q.c_cubes += q.c[k] * q.c[k] * q.c[k] - before * before * before
    if q.totals[k] < q.low:
        q.low = q.totals[k]
    elif by > 0 and q.totals[k] - by == q.low:
        find_low(q)


cdef inline double norm_c(Work* q) noexcept nogil:
    return 1.0 / (q.low + q.beta_sum) if q.power == 2 else cbrt(q.c_cubes)


cdef inline double visit(Work* q, const int32_t* n, double beta, int begin, int end, double* a, double* b) noexcept nogil:
    """Masses of the topics begin:end of the order; takes them out of the norms, returns their sum."""
    cdef int i, k
    cdef double sum = 0, aa = 0, bb = 0, x, y
    if q.power == 2:
        for i in range(begin, end):
            k = q.order[i]
            x, y = q.a[i], n[k] + beta
            q.w[i] = x * y * q.c[k]
            sum += q.w[i]
            aa += x * x
            bb += y * y
    else:
        for i in range(begin, end):
            k = q.order[i]
            x, y = q.a[i], n[k] + beta
            q.w[i] = x * y * q.c[k]
            sum += q.w[i]
            aa += x * x * x
            bb += y * y * y
    a[0] -= aa
    b[0] -= bb
    return sum


cdef inline int pick(Work* q, int begin, int end, double target) noexcept nogil:
    """The place in the order at which the running sum from `begin` passes target."""
    cdef int i
    for i in range(begin, end):
        if target < q.w[i]:
            return i
        target -= q.w[i]
    return end - 1


cdef int draw(Work* q, const int32_t* n, double beta, double a, double b, double u, int* visited) noexcept nogil:
    """The topic of one token, which is out of all counts, by one uniform."""
    cdef double c = norm_c(q), here = 0, before, bound = 0, previous
    cdef int begin = 0, end
    while True:
        end = min(begin + q.batch, q.n_topics)
        before, previous = here, bound
        here += visit(q, n, beta, begin, end, &a, &b)
        bound = here
        if end < q.n_topics:
            bound += tail_norm(q, a, b) * c
        if begin > 0:
            bound = min(bound, previous)
        if end == q.n_topics or u * bound <= here:
            break
        begin = end
    visited[0] += end
    if begin == 0 or u * bound > before:
        return q.order[pick(q, begin, end, u * bound - before)]
    # the bound fell past u: what it gave up is shared by the topics before, in proportion to their masses
    return q.order[pick(q, 0, begin, (u * previous - before) * bound / (previous - bound))]


cdef int trace_bounds(Work* q, const int32_t* n, double beta, double a, double b, double[::1] sums,
                      double[::1] bounds, double[::1] weights, int32_t[::1] order) noexcept nogil:
    """S_l and Z_l at each look of `draw`, all of them; the masses and the order."""
    cdef double c = norm_c(q), here = 0, bound
    cdef int begin = 0, end, looks = 0, i
    while begin < q.n_topics:
        end = min(begin + q.batch, q.n_topics)
        here += visit(q, n, beta, begin, end, &a, &b)
        bound = here
        if end < q.n_topics:
            bound += tail_norm(q, a, b) * c
        if looks:
            bound = min(bound, bounds[looks - 1])
        sums[looks], bounds[looks] = here, bound
        looks += 1
        begin = end
    for i in range(q.n_topics):
        weights[i], order[i] = q.w[i], q.order[i]
    return looks


cdef void* room(size_t n, size_t size, size_t* failed) noexcept nogil:
    cdef void* p = calloc(n, size)
    if p == NULL:
        failed[0] = 1
    return p


def word_norms(const int32_t[:, ::1] topic_word, int64_t[::1] first, double[::1] second, double[::1] third):
    """Sums of n_kw, n_kw^2 and n_kw^3 over topics, (V,) each; whole numbers, exact to 2^53."""
    cdef Py_ssize_t w, k
    cdef int64_t n, sum1
    cdef double sum2, sum3
    with nogil:
        for w in range(topic_word.shape[0]):
            sum1 = 0
            sum2 = sum3 = 0
            for k in range(topic_word.shape[1]):
                n = topic_word[w, k]
                sum1 += n
                sum2 += <double>(n * n)
                sum3 += <double>n * <double>(n * n)
            first[w], second[w], third[w] = sum1, sum2, sum3


def sample_documents(const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last, const int32_t[::1] words,
                     uint16_t[::1] z, int32_t[:, ::1] topic_word, int64_t[::1] topic_totals,
                     const int64_t[::1] frequency, double[::1] squares, double[::1] cubes,
                     const float[::1] alpha, const float[::1] beta, double beta_sum, int n_topics, int power,
                     int batch, uint64_t key, int32_t first_word=0, int32_t last_word=2147483647,
                     Py_ssize_t probe=-1, double[::1] sums=None,
                     double[::1] bounds=None, double[::1] weights=None, int32_t[::1] order=None,
                     int64_t[::1] drawn=None, Py_ssize_t draws=0):
    """Draw the topics of documents first:last in place.

    Parameters
    ----------
    topic_word, topic_totals, squares, cubes : kept current
        The last two are sums over topics of n_kw^2 and n_kw^3, see `word_norms`.
    first_word, last_word : only tokens of words first_word:last_word are drawn.
    probe : a position in document `first`; with it nothing changes: `sums` and `bounds` get S_l and Z_l at each
        look, `weights` and `order` (K,) the masses and topics as they are visited, `drawn` (K,) how often
        each topic came in so many `draws`.

    Returns
    -------
    moved : tokens whose topic changed, or with `probe` the number of looks
    visited : topics visited
    """
    cdef Work q
    cdef size_t failed = 0
    cdef Stream stream
    cdef int o, t, k, n, j, looks = 0, seen = 0
    cdef int32_t* row
    cdef Py_ssize_t d, i, w, here, until, g, moved = 0, visited = 0, waited = 0, stride = topic_word.shape[1]
    cdef double a, b, share
    memset(&q, 0, sizeof(q))
    q.n_topics, q.power, q.batch = n_topics, power, batch
    q.beta_sum, q.totals = beta_sum, &topic_totals[0]
    q.n = <int32_t*>room(n_topics, 4, &failed)
    q.order = <int32_t*>room(n_topics, 4, &failed)
    q.position = <int32_t*>room(n_topics, 4, &failed)
    q.a = <double*>room(n_topics, 8, &failed)
    q.c = <double*>room(n_topics, 8, &failed)
    q.w = <double*>room(n_topics, 8, &failed)
    q.alpha = <double*>room(n_topics, 8, &failed)
    try:
        if failed:
            raise MemoryError(f"no memory for the fast kernel's {n_topics} topics")
        with nogil:
            open_stream(&stream, key)
            for k in range(n_topics):
                q.alpha[k] = q.a[k] = alpha[k]
                q.alpha_norm += q.alpha[k] ** 2 if power == 2 else q.alpha[k] ** 3
                q.order[k] = q.position[k] = k
                q.c[k] = 1.0 / (q.totals[k] + beta_sum)
                q.c_cubes += q.c[k] * q.c[k] * q.c[k]
            find_low(&q)
            for d in range(first, last):
                here = first_at_least(&words[0], offsets[d], offsets[d + 1], first_word)
                until = first_at_least(&words[0], here, offsets[d + 1], last_word)
                if here == until:
                    continue
                memset(q.sums, 0, sizeof(q.sums))
                for i in range(offsets[d], offsets[d + 1]):
                    more(&q, z[i])
                for i in range(here, until):
                    waited += 64
                    check_signals(&waited)
                    if probe >= 0 and i - offsets[d] != probe:
                        continue
                    if i + 3 < until:
                        for g in range(0, min(stride, 256), 16):
                            l_prefetch(&topic_word[words[i + 3], g])
                    w = words[i]
                    row = &topic_word[w, 0]
                    o = z[i]
                    less(&q, o)
                    total(&q, o, -1)
                    n = row[o]
                    row[o] = n - 1
                    squares[w] -= 2.0 * n - 1
                    cubes[w] -= 3.0 * n * (n - 1.0) + 1
                    share = beta[w]
                    a = SLACK * norm_a(&q)
                    b = SLACK * norm_b(&q, share, frequency[w] - 1, squares[w], cubes[w])
                    t = o
                    if probe < 0:
                        seen = 0
                        t = draw(&q, row, share, a, b, uniform53(&stream), &seen)
                        visited += seen
                    else:
                        looks = trace_bounds(&q, row, share, a, b, sums, bounds, weights, order)
                        for g in range(draws):
                            drawn[draw(&q, row, share, a, b, uniform53(&stream), &seen)] += 1
                    more(&q, t)
                    total(&q, t, 1)
                    n = row[t]
                    row[t] = n + 1
                    squares[w] += 2.0 * n + 1
                    cubes[w] += 3.0 * n * (n + 1.0) + 1
                    if t != o:
                        moved += 1
                        z[i] = <uint16_t>t
                for j in range(q.used):
                    q.n[q.order[j]] = 0
                    q.a[j] = q.alpha[q.order[j]]
                q.used = 0
    finally:
        for pointer in (<size_t>q.n, <size_t>q.order, <size_t>q.position, <size_t>q.a, <size_t>q.c, <size_t>q.w,
                        <size_t>q.alpha):
            free(<void*><size_t>pointer)
    return looks if probe >= 0 else moved, visited
