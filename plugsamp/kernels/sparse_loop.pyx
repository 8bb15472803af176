"""SparseLDA: a token drawn from its full conditional by what is not zero in it (Yao, Mimno and McCallum 2009).

    p(z_di = k | rest)  ∝  n_kw c_k  +  β_w n_dk / (n_k + β̄)  +  β_w α_k / (n_k + β̄),    c_k = (n_dk + α_k) / (n_k + β̄)

all without token i. The first bucket is one scan of the word's topics (packed.h), the second runs over the
document's topics and the third over all; the last two are β_w Σ c_k together, a number kept as counts change,
and few draws end there.

Nothing is taken out before the draw: the token's own topic o is left out of all buckets and put first, with
mass (n_ow - 1 + β_w)(n_do - 1 + α_o) / (n_o - 1 + β̄). A draw that falls into it, which is what most do,
changes no count and writes nothing.
"""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from plugsamp.kernels.lanes cimport l_add, l_choose, l_last, l_load, l_mul, l_prefetch, l_scan, l_set, l_store, lf
from plugsamp.kernels.packed cimport *
from plugsamp.kernels.parts cimport first_at_least
from plugsamp.random.streams cimport Stream, open_stream, uniform
from plugsamp.system.interrupts cimport check_signals

cdef struct Work:
    int n_topics, stride, bits
    int32_t* n              # n_dk of the document at hand
    float* inverse          # 1 / (n_k + beta_bar)
    float* coefficient      # (n_dk + alpha_k) / (n_k + beta_bar); 0 for the padding
    float* w                # weights of one token, by cell
    double sum              # of the coefficients
    int32_t* met            # the document's topics, those that it has left too, and room for one
    int n_met
    int32_t* stamp          # the document that met a topic last
    const float* alpha
    double beta_sum
    int64_t* totals
    p_word* lists           # the words' topics (plugsamp.kernels.word_topics)
    uint8_t* base           # where their cells stand


cdef inline void renew(Work* q, int k) noexcept nogil:
    """The coefficient of a topic from its counts."""
    cdef float before = q.coefficient[k]
    q.coefficient[k] = (q.n[k] + q.alpha[k]) * q.inverse[k]
    q.sum += <double>q.coefficient[k] - before


cdef inline void shift(Work* q, int k, int by, int32_t stamp) noexcept nogil:
    """A token of the document more or less in a topic."""
    if q.stamp[k] != stamp:
        q.stamp[k] = stamp
        q.met[q.n_met] = k
        q.n_met += 1
    q.n[k] += by
    q.totals[k] += by
    q.inverse[k] = <float>(1.0 / (q.totals[k] + q.beta_sum))
    renew(q, k)


cdef void begin_document(Work* q, const uint16_t* z, Py_ssize_t length, int32_t stamp) noexcept nogil:
    cdef Py_ssize_t i
    cdef int j, k
    for i in range(length):     # without a branch, which would be guessed wrong for every other token
        k = z[i]
        q.n[k] += 1
        q.met[q.n_met] = k
        q.n_met += q.stamp[k] != stamp
        q.stamp[k] = stamp
    for j in range(q.n_met):
        renew(q, q.met[j])


cdef void end_document(Work* q) noexcept nogil:
    cdef int j
    for j in range(q.n_met):
        q.n[q.met[j]] = 0
        renew(q, q.met[j])
    q.n_met = 0


cdef int draw_unseen(Work* q, Stream* stream, int own, double mass) noexcept nogil:
    """A topic other than `own` by its coefficient: the document's bucket, then the smoothing one."""
    cdef int j, k, g
    cdef double target = uniform(stream) * mass, weight
    cdef float kept = 0
    cdef lf w, acc = l_set(0)
    for j in range(q.n_met):
        k = q.met[j]
        if k != own and q.n[k] > 0:
            weight = <double>q.n[k] * q.inverse[k]
            if target < weight:
                return k
            target -= weight
    if own >= 0:
        kept = q.inverse[own]
        q.inverse[own] = 0
    for g in range(0, q.stride, 16):
        w = l_mul(l_load(q.alpha + g), l_load(q.inverse + g))
        l_store(q.w + g, w)
        acc = l_add(acc, w)
    if own >= 0:
        q.inverse[own] = kept
    return l_choose(q.w, q.stride, acc, uniform(stream))


cdef inline int draw(Work* q, Stream* stream, const p_word* word, const void* cells, int own, int* cell,
                     int* place) noexcept nogil:
    """The topic of a token that has `own` (-1: none yet), or -1 for `own` again.

    The word's cells of the drawn topic (-1: not looked for) and of its own go to `cell` and `place`.
    """
    cdef int n, t
    cdef float by_word, mine = 0, target
    cdef double unseen = q.sum
    cdef lf scan = l_scan(p_weigh(word, cells, q.bits, own, q.coefficient, q.w, place, &n))
    by_word = l_last(scan)
    if own >= 0:
        mine = own_mass(q, own, n, word.beta)
        unseen -= q.coefficient[own]
        if unseen < 0:
            unseen = 0
    target = uniform(stream) * (mine + by_word + word.beta * <float>unseen)
    cell[0] = -1
    if target < mine:
        return -1
    target -= mine
    if target < by_word:
        cell[0] = p_choose(q.w, word.size, scan, target)
        return -1 if cell[0] < 0 else p_topic(word, cells, q.bits, cell[0])
    t = draw_unseen(q, stream, own, unseen)
    if word.row:
        cell[0] = t
    return t


cdef inline float own_mass(Work* q, int own, int n, float beta) noexcept nogil:
    return (n - 1 + beta) * ((q.n[own] - 1 + q.alpha[own]) / <float>(q.totals[own] - 1 + q.beta_sum))


cdef void conditional(Work* q, const p_word* word, const void* cells, int own, double* out) noexcept nogil:
    """The masses that `draw` draws by, over their sum as `draw` has it, by topic."""
    cdef int n, place, k, i
    cdef double total, unseen = q.sum - q.coefficient[own]
    cdef lf scan = l_scan(p_weigh(word, cells, q.bits, own, q.coefficient, q.w, &place, &n))
    total = own_mass(q, own, n, word.beta) + l_last(scan) + word.beta * max(unseen, 0.0)
    for k in range(q.n_topics):
        out[k] = word.beta * (q.n[k] * <double>q.inverse[k] + <double>q.alpha[k] * q.inverse[k]) / total
    for i in range(word.size):
        if q.w[i] > 0:
            out[p_topic(word, cells, q.bits, i)] += q.w[i] / total
    out[own] = own_mass(q, own, n, word.beta) / total


cdef inline void* cells_of(Work* q, const p_word* word) noexcept nogil:
    return q.base + 32 * <size_t>word.at


cdef inline void fetch(Work* q, int32_t next_word, int32_t later_word) noexcept nogil:
    """Fetch the cells of a word that comes soon, and the entry of one that comes later."""
    cdef const p_word* word = q.lists + next_word
    cdef const uint8_t* coming = <const uint8_t*>cells_of(q, word)
    l_prefetch(q.lists + later_word)
    l_prefetch(coming)
    if word.row or word.size > 16:
        l_prefetch(coming + 64)
        l_prefetch(coming + 128)
        l_prefetch(coming + 192)


cdef inline void change(Work* q, p_word* word, int own, int t, int cell, int place, int32_t stamp) noexcept nogil:
    """A token of `word` goes from topic `own` (-1: from none) to t."""
    cdef void* cells = cells_of(q, word)
    if own < 0:
        p_put(word, cells, q.bits, t, cell)
    else:
        if cell >= 0:      # the cell is known as long as no other takes its place
            p_put(word, cells, q.bits, t, cell)
            p_take(word, cells, q.bits, q.n_topics, place)
        else:              # room for one list entry a token, no more
            p_take(word, cells, q.bits, q.n_topics, place)
            p_put(word, cells, q.bits, t, -1)
        shift(q, own, -1, stamp)
    shift(q, t, 1, stamp)


cdef class Room:
    """The memory of a call, and the arrays of the chain as it reads and writes them."""

    cdef Work q
    cdef const int64_t[::1] offsets
    cdef const int32_t[::1] words
    cdef uint16_t[::1] z
    cdef int64_t[::1] topic_totals
    cdef const float[::1] alpha
    cdef uint8_t[::1] lists, cells

    def __cinit__(self, state, held):
        cdef Work* q = &self.q
        cdef int k
        memset(q, 0, sizeof(Work))
        self.offsets, self.words, self.z, self.alpha = state.offsets, state.words, state.z, state.alpha
        self.topic_totals = state.topic_totals
        self.lists, self.cells = held.lists.view("u1"), held.cells
        q.lists, q.base, q.bits = <p_word*>&self.lists[0], &self.cells[0], held.bits
        q.n_topics, q.stride = state.n_topics, <int>self.alpha.shape[0]
        q.alpha, q.beta_sum, q.totals = &self.alpha[0], state.beta_sum, &self.topic_totals[0]
        q.n, q.stamp = <int32_t*>calloc(q.stride, 4), <int32_t*>calloc(q.stride, 4)
        q.met, q.inverse = <int32_t*>calloc(q.stride + 1, 4), <float*>calloc(q.stride, 4)
        q.coefficient, q.w = <float*>calloc(q.stride + 16, 4), <float*>calloc(q.stride + 16, 4)
        if NULL in (q.n, q.stamp, q.met, q.inverse, q.coefficient, q.w):
            raise MemoryError(f"no memory for the sparse kernel's {q.n_topics} topics")
        for k in range(q.n_topics):
            q.inverse[k] = <float>(1.0 / (q.totals[k] + q.beta_sum))
            renew(q, k)

    def __dealloc__(self):
        for pointer in (<size_t>self.q.n, <size_t>self.q.stamp, <size_t>self.q.met, <size_t>self.q.inverse,
                        <size_t>self.q.coefficient, <size_t>self.q.w):
            free(<void*><size_t>pointer)


def sample_documents(state, held, Py_ssize_t first, Py_ssize_t last, uint64_t key, bint start=False,
                     int32_t first_word=0, int32_t last_word=2147483647):
    """Draw the topics of documents first:last in place.

    Parameters
    ----------
    state : State
        The chain's arrays.
    held : WordTopics
        The words' topics, kept current.
    start : the tokens have no topics yet, and get them one after another given those before.
    first_word, last_word : only tokens of words first_word:last_word are drawn.

    Returns
    -------
    moved : tokens whose topic changed
    """
    cdef Room room = Room(state, held)
    cdef Work* q = &room.q
    cdef Stream stream
    cdef p_word* word
    cdef int own, t, cell = -1, place = -1
    cdef int32_t stamp
    cdef Py_ssize_t d, i, begin, end, here, until, moved = 0, waited = 0, last_token = room.offsets[last]
    with nogil:
        open_stream(&stream, key)
        for d in range(first, last):
            begin, end = room.offsets[d], room.offsets[d + 1]
            here = first_at_least(&room.words[0], begin, end, first_word)
            until = first_at_least(&room.words[0], here, end, last_word)
            if here == until:
                continue
            stamp = <int32_t>(d - first + 1)
            if not start:
                begin_document(q, &room.z[begin], end - begin, stamp)
            for i in range(here, until):
                waited += 64
                check_signals(&waited)
                if i + 16 < last_token:
                    fetch(q, room.words[i + 8], room.words[i + 16])
                word = q.lists + room.words[i]
                own = -1 if start else room.z[i]
                t = draw(q, &stream, word, cells_of(q, word), own, &cell, &place)
                if t < 0:
                    continue
                moved += 1
                room.z[i] = <uint16_t>t
                change(q, word, own, t, cell, place, stamp)
            end_document(q)
    return moved


def probe(state, held, Py_ssize_t document, Py_ssize_t position, uint64_t key, double[::1] out, int64_t[::1] drawn,
          Py_ssize_t draws):
    """Put the conditional of a token into `out` (K,), and count the topics of so many `draws` in `drawn` (K,).

    Both are as the sampler computes them; nothing of the chain changes.
    """
    cdef Room room = Room(state, held)
    cdef Work* q = &room.q
    cdef Stream stream
    cdef Py_ssize_t begin = room.offsets[document], end = room.offsets[document + 1], j
    cdef p_word* word = q.lists + room.words[begin + position]
    cdef int own = room.z[begin + position], t, cell = -1, place = -1
    open_stream(&stream, key)
    begin_document(q, &room.z[begin], end - begin, 1)
    conditional(q, word, cells_of(q, word), own, &out[0])
    for j in range(draws):
        t = draw(q, &stream, word, cells_of(q, word), own, &cell, &place)
        drawn[own if t < 0 else t] += 1
