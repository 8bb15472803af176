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


cdef int trace_bounds(Work* q, const int32_t* n, double beta, double a, double b, double[:, ::1] seen,
                      int32_t[::1] order) noexcept nogil:
    """S_l and Z_l at each look of `draw`, all of them; the masses, and the order."""
    cdef double c = norm_c(q), here = 0, bound
    cdef int begin = 0, end, looks = 0, i
    while begin < q.n_topics:
        end = min(begin + q.batch, q.n_topics)
        here += visit(q, n, beta, begin, end, &a, &b)
        bound = here
        if end < q.n_topics:
            bound += tail_norm(q, a, b) * c
        if looks:
            bound = min(bound, seen[1, looks - 1])
        seen[0, looks], seen[1, looks] = here, bound
        looks += 1
        begin = end
    for i in range(q.n_topics):
        seen[2, i], order[i] = q.w[i], q.order[i]
    return looks


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


cdef class Room:
    """The memory of a call, and the arrays of the chain as it reads and writes them."""

    cdef Work q
    cdef const int64_t[::1] offsets, frequency
    cdef const int32_t[::1] words
    cdef uint16_t[::1] z
    cdef int32_t[:, ::1] topic_word
    cdef int64_t[::1] topic_totals
    cdef double[::1] squares, cubes
    cdef const float[::1] beta
    cdef double a, b            # the norms of a token

    def __cinit__(self, state, norms, int power, int batch):
        cdef Work* q = &self.q
        cdef const float[::1] alpha = state.alpha
        cdef size_t n = state.n_topics
        cdef int k
        memset(q, 0, sizeof(Work))
        self.offsets, self.words, self.z, self.beta = state.offsets, state.words, state.z, state.beta
        self.topic_word, self.topic_totals = state.topic_word, state.topic_totals
        self.frequency, self.squares, self.cubes = norms
        q.n_topics, q.power, q.batch = state.n_topics, power, batch
        q.beta_sum, q.totals = state.beta_sum, &self.topic_totals[0]
        q.n, q.order, q.position = <int32_t*>calloc(n, 4), <int32_t*>calloc(n, 4), <int32_t*>calloc(n, 4)
        q.a, q.c, q.w, q.alpha = <double*>calloc(n, 8), <double*>calloc(n, 8), <double*>calloc(n, 8), <double*>calloc(n, 8)
        if NULL in (q.n, q.order, q.position, q.a, q.c, q.w, q.alpha):
            raise MemoryError(f"no memory for the fast kernel's {q.n_topics} topics")
        for k in range(q.n_topics):
            q.alpha[k] = q.a[k] = alpha[k]
            q.alpha_norm += q.alpha[k] ** 2 if power == 2 else q.alpha[k] ** 3
            q.order[k] = q.position[k] = k
            q.c[k] = 1.0 / (q.totals[k] + q.beta_sum)
            q.c_cubes += q.c[k] * q.c[k] * q.c[k]
        find_low(q)

    def __dealloc__(self):
        for pointer in (<size_t>self.q.n, <size_t>self.q.order, <size_t>self.q.position, <size_t>self.q.a,
                        <size_t>self.q.c, <size_t>self.q.w, <size_t>self.q.alpha):
            free(<void*><size_t>pointer)

    cdef void begin_document(self, Py_ssize_t d) noexcept nogil:
        cdef Py_ssize_t i
        memset(self.q.sums, 0, sizeof(self.q.sums))
        for i in range(self.offsets[d], self.offsets[d + 1]):
            more(&self.q, self.z[i])

    cdef void end_document(self) noexcept nogil:
        cdef int j
        for j in range(self.q.used):
            self.q.n[self.q.order[j]] = 0
            self.q.a[j] = self.q.alpha[self.q.order[j]]
        self.q.used = 0

    cdef void fetch(self, int32_t w) noexcept nogil:
        cdef Py_ssize_t g
        for g in range(0, min(self.topic_word.shape[1], 256), 16):
            l_prefetch(&self.topic_word[w, g])

    cdef void take_out(self, int32_t w, int o) noexcept nogil:
        """A token of word w less in topic o; the norms without it."""
        cdef int n = self.topic_word[w, o]
        less(&self.q, o)
        total(&self.q, o, -1)
        self.topic_word[w, o] = n - 1
        self.squares[w] -= 2.0 * n - 1
        self.cubes[w] -= 3.0 * n * (n - 1.0) + 1
        self.a = SLACK * norm_a(&self.q)
        self.b = SLACK * norm_b(&self.q, self.beta[w], self.frequency[w] - 1, self.squares[w], self.cubes[w])

    cdef void put_in(self, int32_t w, int t) noexcept nogil:
        cdef int n = self.topic_word[w, t]
        more(&self.q, t)
        total(&self.q, t, 1)
        self.topic_word[w, t] = n + 1
        self.squares[w] += 2.0 * n + 1
        self.cubes[w] += 3.0 * n * (n + 1.0) + 1

    cdef int draw(self, int32_t w, Stream* stream, int* seen) noexcept nogil:
        return draw(&self.q, &self.topic_word[w, 0], self.beta[w], self.a, self.b, uniform53(stream), seen)


def sample_documents(state, norms, int power, int batch, Py_ssize_t first, Py_ssize_t last, uint64_t key,
                     int32_t first_word=0, int32_t last_word=2147483647):
    """Draw the topics of documents first:last in place, those of words first_word:last_word.

    Parameters
    ----------
    state : State
        The chain's arrays.
    norms : tokens (V,), and the sums over topics of n_kw^2 and n_kw^3 (V,), which are kept current (`word_norms`)
    power, batch : of the bound, and topics visited between two looks at it

    Returns
    -------
    moved : tokens whose topic changed
    visited : topics visited
    """
    cdef Room room = Room(state, norms, power, batch)
    cdef Stream stream
    cdef int o, t, seen
    cdef int32_t w
    cdef Py_ssize_t d, i, here, until, moved = 0, visited = 0, waited = 0
    with nogil:
        open_stream(&stream, key)
        for d in range(first, last):
            here = first_at_least(&room.words[0], room.offsets[d], room.offsets[d + 1], first_word)
            until = first_at_least(&room.words[0], here, room.offsets[d + 1], last_word)
            if here == until:
                continue
            room.begin_document(d)
            for i in range(here, until):
                waited += 64
                check_signals(&waited)
                if i + 3 < until:
                    room.fetch(room.words[i + 3])
                w, o, seen = room.words[i], room.z[i], 0
                room.take_out(w, o)
                t = room.draw(w, &stream, &seen)
                visited += seen
                room.put_in(w, t)
                if t != o:
                    moved += 1
                    room.z[i] = <uint16_t>t
            room.end_document()
    return moved, visited


def probe(state, norms, int power, int batch, Py_ssize_t document, Py_ssize_t position, uint64_t key,
          double[:, ::1] looks, int32_t[::1] order, int64_t[::1] drawn, Py_ssize_t draws):
    """What the next draw of a token may look at; nothing of the chain changes.

    Parameters
    ----------
    document, position : the token
    looks : (3, K)
        Gets S_l and Z_l at each look, and the masses of the topics as they are visited.
    order : (K,), which gets the topics as they are visited
    drawn : (K,), which counts the topics of so many `draws`

    Returns
    -------
    n : how many looks there are
    """
    cdef Room room = Room(state, norms, power, batch)
    cdef Stream stream
    cdef Py_ssize_t i = room.offsets[document] + position
    cdef int o = room.z[i], seen = 0, n
    cdef int32_t w = room.words[i]
    open_stream(&stream, key)
    room.begin_document(document)
    room.take_out(w, o)
    n = trace_bounds(&room.q, &room.topic_word[w, 0], room.beta[w], room.a, room.b, looks, order)
    for i in range(draws):
        drawn[room.draw(w, &stream, &seen)] += 1
    room.put_in(w, o)
    return n
