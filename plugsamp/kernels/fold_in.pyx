"""Topic proportions of new documents given fixed topics (model.md section 7): Gibbs chains, one a lane."""

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc

import numpy as np

from plugsamp.kernels.lanes cimport (
    l_add, l_div, l_load, l_mul, l_prefetch, l_set, l_store, l_sub, l_sum, l_where_above, lf
)
from plugsamp.random.streams cimport Stream, bits, open_stream, splitmix, uniform
from plugsamp.system.interrupts cimport check_signals

cdef enum:
    LANES = 16
    SOFT = 4  # rounds of expected counts
    SHUFFLES = 256
    SLOTS = 16  # passes whose ends are draws
    SHORT = 32  # tokens of a document that has sixteen passes at least
    SLOW = 4  # with so few active topics chains may mix slowly, and passes are cheap
    SLOW_PASSES = 512
    SLOW_TOKENS = 131072
    FLUSH = 4096  # float32 sums are kept shorter than this

#: Topics with fewer expected tokens (of documents of 50 tokens or more) are gathered in the rest.
cdef float FEW = 0.02
#: Cells with less than this part of a word's mass, at the most tokens that their topic may have, are left out.
cdef float SMALL = 3e-3
#: Pulls the slopes of control variates towards 0 where there are few passes.
cdef double PRIOR_SLOPE = 20.0


cdef struct Document:
    Py_ssize_t size, n_unique, n_active, capacity
    Py_ssize_t steps   # since signals were looked for
    int32_t *word      # (n_unique) words, ascending
    int32_t *count     # (n_unique) their tokens
    int64_t *begin     # (n_unique + 1) where a word's cells begin
    int32_t *cell      # place among the active topics, cell by cell
    float *value       # phi, cell by cell
    float *rest        # (n_unique) sum of phi alpha over the other topics
    int32_t *active    # (n_active) topics


cdef struct Chains:
    float *n           # (n_active, 16) counts
    float *prior       # (n_active) alpha
    float *soft        # (n_active) expected counts
    float *sums        # (n_active, 16) sums of token probabilities
    float *rest        # (n_unique, 16) the same of the rest, word by word
    float *z           # (size, 16) places in the word's list, 0 for the rest
    float *running     # (cells of a word, 16)
    double *now        # (n_active, 16) `sums` of this pass
    float *before      # (n_active, 16) counts at its start
    double *total      # (n_active, 2, 16) over kept passes, token probabilities and differences
    double *square     # (n_active, 2) products of difference with probabilities, and with itself
    double *slope      # (n_active)


cdef float shuffles[SHUFFLES * LANES]


cdef void make_shuffles() noexcept:
    """Rows of 0, 1/16, ..., 15/16: 16 orders, each in 16 rotations, so that each lane has each value equally."""
    cdef int order[LANES]
    cdef int i, j, k, r
    cdef uint64_t x = 20260101
    for r in range(SHUFFLES // LANES):
        for i in range(LANES):
            order[i] = i
        for i in range(LANES - 1, 0, -1):
            j = <int>(splitmix(&x) % <uint64_t>(i + 1))
            k = order[i]
            order[i] = order[j]
            order[j] = k
        for j in range(LANES):
            for i in range(LANES):
                shuffles[(r * LANES + j) * LANES + i] = <float>((order[i] + j) % LANES) / LANES


make_shuffles()


cdef inline lf stratified(Stream* s) noexcept nogil:
    """A uniform number a lane, one in each sixteenth, in random order (Latin hypercube sampling)."""
    cdef uint32_t b = bits(s)
    cdef float u = (<float><int32_t>(b >> 8) + <float>0.5) * <float>(1.0 / 16777216.0 / LANES)
    return l_add(l_load(&shuffles[(b & (SHUFFLES - 1)) * LANES]), l_set(u))


cdef void expected(const int32_t* word, const int32_t* count, Py_ssize_t n_unique, Py_ssize_t size,
                   const float[:, ::1] phi, const float* prior, Py_ssize_t n_topics,
                   float* soft, float* share, float* weights) noexcept nogil:
    """`SOFT` rounds of expected counts given expected counts, from even ones, into `soft`."""
    cdef Py_ssize_t width = phi.shape[1], g, i, ahead
    cdef int step
    cdef const float *row
    cdef lf total, p, scale
    for g in range(width):
        soft[g] = <float>size / n_topics
    for step in range(SOFT):
        for g in range(width):
            share[g] = 0.0
        for i in range(n_unique):
            row = &phi[word[i], 0]
            if step == 0:
                ahead = i + 4 if i + 4 < n_unique else n_unique - 1
                for g in range(0, width, 16):
                    l_prefetch(&phi[word[ahead], g])
            total = l_set(0.0)
            for g in range(0, width, 16):
                p = l_mul(l_load(row + g), l_add(l_load(soft + g), l_load(prior + g)))
                l_store(weights + g, p)
                total = l_add(total, p)
            scale = l_set(<float>count[i] / l_sum(total))
            for g in range(0, width, 16):
                l_store(share + g, l_add(l_load(share + g), l_mul(scale, l_load(weights + g))))
        for g in range(width):
            soft[g] = share[g]


cdef int gather(Document* d, const float[:, ::1] phi, const float* prior, const float* soft,
                Py_ssize_t n_topics, float* limit, float* others) noexcept nogil:
    """List the active topics and each word's cells; -1 without memory."""
    cdef Py_ssize_t k, i, a, m = 0, wanted
    cdef float most, total
    cdef const float *row
    cdef float few = FEW if d.size >= 50 else FEW * d.size / 50
    d.n_active = 0
    for k in range(phi.shape[1]):
        others[k] = prior[k]
    for k in range(n_topics):
        if soft[k] > few:
            d.active[d.n_active] = <int32_t>k
            most = 4.0 * soft[k] + 2.0
            limit[d.n_active] = prior[k] + (most if most < d.size else <float>d.size)
            others[k] = 0.0
            d.n_active += 1
    for i in range(d.n_unique):
        wanted = m + d.n_active
        if wanted > d.capacity:
            d.capacity = 2 * wanted
            d.cell = <int32_t*>realloc(d.cell, d.capacity * sizeof(int32_t))
            d.value = <float*>realloc(d.value, d.capacity * sizeof(float))
            if d.cell == NULL or d.value == NULL:
                return -1
        row = &phi[d.word[i], 0]
        d.begin[i] = m
        total = 0.0
        for a in range(d.n_active):
            k = d.active[a]
            total += row[k] * (soft[k] + prior[k])
        total *= SMALL
        for a in range(d.n_active):
            k = d.active[a]
            if row[k] * limit[a] > total:
                d.cell[m] = <int32_t>a
                d.value[m] = row[k]
                m += 1
        total = 0.0
        for k in range(n_topics):
            total += row[k] * others[k]
        if total < 1e-30 and m == d.begin[i]:
            total = 1e-30
        d.rest[i] = total
    d.begin[d.n_unique] = m
    return 0


cdef inline void start_token(Document* d, Chains* c, Py_ssize_t i, float left, float* z, Stream* s) noexcept nogil:
    """Draw a first topic given those before, and the expected counts of the part `left` of the tokens."""
    cdef Py_ssize_t j, a, first = d.begin[i], m = d.begin[i + 1] - d.begin[i]
    cdef lf acc = l_set(d.rest[i]), n, above, before, place, target
    for j in range(m):
        a = d.cell[first + j]
        n = l_add(l_load(c.n + a * LANES), l_set(c.prior[a] + left * c.soft[a]))
        acc = l_add(acc, l_mul(l_set(d.value[first + j]), n))
        l_store(c.running + j * LANES, acc)
    target = l_mul(acc, stratified(s))
    before = l_where_above(l_set(d.rest[i]), target, l_set(0.0), l_set(1.0))
    place = before
    for j in range(m):
        a = d.cell[first + j]
        above = l_set(0.0) if j == m - 1 else l_where_above(
            l_load(c.running + j * LANES), target, l_set(0.0), l_set(1.0))
        l_store(c.n + a * LANES, l_add(l_load(c.n + a * LANES), l_sub(before, above)))
        place = l_add(place, above)
        before = above
    l_store(z, place)


cdef inline void token(Document* d, Chains* c, Py_ssize_t i, float* z, bint keep, Stream* s) noexcept nogil:
    """Draw a token's topic given the others in every lane; if wanted, sum its probabilities."""
    cdef Py_ssize_t j, a, first = d.begin[i], m = d.begin[i + 1] - d.begin[i]
    cdef lf old = l_load(z), acc = l_set(d.rest[i])
    cdef lf n, above, before, place, target, scale, p
    cdef lf zero = l_set(0.0), one = l_set(1.0)
    before = l_where_above(old, l_set(0.5), one, zero)
    for j in range(m):
        a = d.cell[first + j]
        above = l_where_above(old, l_set(<float>j + <float>1.5), one, zero)
        n = l_sub(l_load(c.n + a * LANES), l_sub(before, above))
        before = above
        l_store(c.n + a * LANES, n)
        acc = l_add(acc, l_mul(l_set(d.value[first + j]), l_add(n, l_set(c.prior[a]))))
        l_store(c.running + j * LANES, acc)
    target = l_mul(acc, stratified(s))
    scale = l_div(one, acc)
    before = l_where_above(l_set(d.rest[i]), target, zero, one)
    place = before
    if keep:
        l_store(c.rest + i * LANES, l_add(l_load(c.rest + i * LANES), l_mul(scale, l_set(d.rest[i]))))
    for j in range(m):
        a = d.cell[first + j]
        above = zero if j == m - 1 else l_where_above(l_load(c.running + j * LANES), target, zero, one)
        n = l_load(c.n + a * LANES)
        if keep:
            p = l_mul(l_set(d.value[first + j]), l_add(n, l_set(c.prior[a])))
            l_store(c.sums + a * LANES, l_add(l_load(c.sums + a * LANES), l_mul(p, scale)))
        l_store(c.n + a * LANES, l_add(n, l_sub(before, above)))
        place = l_add(place, above)
        before = above
    l_store(z, place)


cdef int sweep(Document* d, Chains* c, bint keep, Stream* s) except -1 nogil:
    cdef Py_ssize_t i, t, at = 0, pending = 0, g
    if keep:
        for g in range(d.n_active * LANES):
            c.before[g] = c.n[g]
            c.now[g] = 0.0
    for i in range(d.n_unique):
        for t in range(d.count[i]):
            token(d, c, i, c.z + at * LANES, keep, s)
            at += 1
            d.steps += d.n_active
            check_signals(&d.steps)
            if keep:
                pending += 1
                if pending == FLUSH:
                    pending = 0
                    flush(d, c)
    if keep:
        flush(d, c)
        add_pass(d, c)
    return 0


cdef void flush(Document* d, Chains* c) noexcept nogil:
    cdef Py_ssize_t g
    for g in range(d.n_active * LANES):
        c.now[g] += c.sums[g]
        c.sums[g] = 0.0


cdef void add_pass(Document* d, Chains* c) noexcept nogil:
    cdef Py_ssize_t a, l
    cdef double r, e, cross, own
    cdef double *total
    for a in range(d.n_active):
        cross = own = 0.0
        total = c.total + 2 * a * LANES
        for l in range(LANES):
            r = c.now[a * LANES + l]
            e = c.before[a * LANES + l] - r
            total[l] += r
            total[LANES + l] += e
            cross += r * e
            own += e * e
        c.square[2 * a] += cross
        c.square[2 * a + 1] += own


cdef double unsettled(Document* d, Chains* c, Py_ssize_t kept) noexcept nogil:
    """The standard error of the proportions, half the sum over topics: by the spread of the chains' means."""
    cdef Py_ssize_t a, l
    cdef double mean, square, x, found = 0.0, n = kept * LANES, r, e, cross, own
    cdef double *total
    for a in range(d.n_active):
        total = c.total + 2 * a * LANES
        r = e = 0.0
        for l in range(LANES):
            r += total[l]
            e += total[LANES + l]
        cross = c.square[2 * a] - r * e / n
        own = c.square[2 * a + 1] - e * e / n
        c.slope[a] = cross / (own + PRIOR_SLOPE) if own > 0.0 else 0.0
        mean = square = 0.0
        for l in range(LANES):
            x = total[l] - c.slope[a] * total[LANES + l]
            mean += x
            square += x * x
        mean /= LANES
        square = square / LANES - mean * mean
        if square > 0.0:
            found += sqrt(square / (LANES - 1))
    return 0.4 * found / (kept * d.size)  # E|x| of a normal error is .8 of its deviation


cdef void emit(Document* d, Chains* c, const float[:, ::1] phi, const float* others, Py_ssize_t n_topics,
               Py_ssize_t slot, Py_ssize_t doc, float[:, :, ::1] drawn, Stream* s) noexcept nogil:
    """Write the share of tokens in each topic, of every chain; tokens in the rest draw a topic of it."""
    cdef Py_ssize_t a, l, i, t, k, last, at = 0
    cdef float left
    cdef const float *row
    for l in range(LANES):
        for k in range(n_topics):
            drawn[slot * LANES + l, doc, k] = 0.0
        for a in range(d.n_active):
            drawn[slot * LANES + l, doc, d.active[a]] = c.n[a * LANES + l] / d.size
    for i in range(d.n_unique):
        row = &phi[d.word[i], 0]
        for t in range(d.count[i]):
            for l in range(LANES):
                if c.z[at * LANES + l] < 0.5:
                    left = uniform(s) * d.rest[i]
                    last = -1
                    for k in range(n_topics):
                        if row[k] * others[k] > 0.0:
                            last = k
                            left -= row[k] * others[k]
                            if left < 0.0:
                                break
                    if last < 0:
                        last = d.active[0]
                    drawn[slot * LANES + l, doc, last] += <float>1.0 / d.size
            at += 1


cdef int begin(Document* d, Chains* c, const float* alpha, const float* soft, Stream* s) except -1 nogil:
    """Clear the sums and draw the chains' first topics."""
    cdef Py_ssize_t a, l, i, t, at = 0
    for a in range(d.n_active):
        c.prior[a] = alpha[d.active[a]]
        c.soft[a] = soft[d.active[a]]
        c.square[2 * a] = c.square[2 * a + 1] = 0.0
        for l in range(LANES):
            c.n[a * LANES + l] = c.sums[a * LANES + l] = 0.0
            c.total[2 * a * LANES + l] = c.total[(2 * a + 1) * LANES + l] = 0.0
    for i in range(d.n_unique * LANES):
        c.rest[i] = 0.0
    for i in range(d.n_unique):
        for t in range(d.count[i]):
            start_token(d, c, i, <float>(d.size - at) / d.size, c.z + at * LANES, s)
            at += 1
            d.steps += d.n_active
            check_signals(&d.steps)
    return 0


cdef void read(Document* d, const int32_t* words, Py_ssize_t size) noexcept nogil:
    """The unique words of a document and their counts."""
    cdef Py_ssize_t at
    d.size, d.n_unique = size, 0
    for at in range(size):
        if d.n_unique and d.word[d.n_unique - 1] == words[at]:
            d.count[d.n_unique - 1] += 1
        else:
            d.word[d.n_unique] = words[at]
            d.count[d.n_unique] = 1
            d.n_unique += 1


cdef void proportions(Document* d, Chains* c, const float[:, ::1] phi, const float* others, Py_ssize_t kept,
                      double[::1] zbar) noexcept nogil:
    """The mean over chains and passes, with the control variates taken off."""
    cdef Py_ssize_t a, l, i, k
    cdef double x, unit = 1.0 / (<double>d.size * kept * LANES)
    for a in range(d.n_active):
        x = 0.0
        for l in range(LANES):
            x += c.total[2 * a * LANES + l] - c.slope[a] * c.total[(2 * a + 1) * LANES + l]
        zbar[d.active[a]] = x * unit if x > 0.0 else 0.0
    for i in range(d.n_unique):
        x = 0.0
        for l in range(LANES):
            x += c.rest[i * LANES + l]
        x *= unit / d.rest[i] if d.rest[i] > 0.0 else 0.0
        if x > 0.0:
            for k in range(zbar.shape[0]):
                zbar[k] += x * phi[d.word[i], k] * others[k]


def fold_in(const int32_t[::1] words, const int64_t[::1] offsets, const float[:, ::1] phi,
            const float[::1] alpha, const uint64_t[::1] keys, int burn_in, int passes, int longest,
            double tolerance, Py_ssize_t first, Py_ssize_t last, double[:, ::1] zbar,
            float[:, :, ::1] drawn):
    """Fill zbar (D, K) for documents first:last by 16 chains each.

    Parameters
    ----------
    words, offsets
        Tokens, sorted within a document; every word needs a topic with phi > 0.
    phi : (V, K padded to 16)
        Word-major; each row may have a scale of its own. Padding holds zeros, as in `alpha`.
    keys : (D,)
        Each document's stream.
    burn_in, passes : int
        Passes left out, and passes in all at least. Passes that are kept are doubled until the estimated
        standard error, as total variation, is `tolerance` at most, or there are `longest` passes or more.
    drawn : (256, last - first, K), or (0, 0, K)
        If wanted, the share of tokens in each topic at the end of the last sixteen passes of each chain.

    Notes
    -----
    zbar is the mean over kept passes of each token's topic probabilities given the other tokens (Rao and
    Blackwell). In a stationary chain a pass's sum of these has the same mean as the counts before it, so
    their difference is a control variate for slow chains (Dellaportas and Kontoyiannis 2012).
    A word is compared with the topics alone that the document may have: those with a few expected tokens,
    by `SOFT` rounds of expected counts. The others are a rest whose topics keep their prior.
    Chains run in lanes, and draw with stratified uniform numbers, which makes their mean more precise.
    Counts are whole numbers in float32, exact below 2^24 tokens a document.
    """
    cdef Py_ssize_t n_topics = zbar.shape[1], width = phi.shape[1], most = 1, doc, step, kept, due
    cdef Document d
    cdef Chains c
    cdef Stream s, other
    cdef int failed = 0
    cdef bint keep = drawn.shape[0] > 0
    for doc in range(first, last):
        most = max(most, offsets[doc + 1] - offsets[doc])
    cdef float[:, ::1] scratch = np.empty((5, width), np.float32)
    cdef float *soft = &scratch[0, 0]
    cdef float *others = &scratch[1, 0]
    cdef int32_t[:, ::1] whole = np.empty((2, max(most, n_topics)), np.int32)
    cdef int32_t[::1] active = np.empty(n_topics, np.int32)
    cdef int64_t[::1] edges = np.empty(most + 1, np.int64)
    cdef float[::1] rest = np.empty(most, np.float32)
    cdef float[:, ::1] of_topics = np.empty((4, n_topics * LANES), np.float32)
    cdef float[:, ::1] plain = np.empty((2, n_topics), np.float32)
    cdef float[:, ::1] of_tokens = np.empty((2, most * LANES), np.float32)
    cdef double[:, ::1] sums = np.empty((6, n_topics * LANES))
    d.capacity, d.steps, d.cell, d.value = 0, 0, NULL, NULL
    d.word, d.count, d.begin, d.rest, d.active = &whole[0, 0], &whole[1, 0], &edges[0], &rest[0], &active[0]
    c.n, c.sums, c.running, c.before = &of_topics[0, 0], &of_topics[1, 0], &of_topics[2, 0], &of_topics[3, 0]
    c.prior, c.soft, c.rest, c.z = &plain[0, 0], &plain[1, 0], &of_tokens[0, 0], &of_tokens[1, 0]
    c.total, c.now, c.square, c.slope = &sums[0, 0], &sums[2, 0], &sums[3, 0], &sums[5, 0]
    try:
        with nogil:
            for doc in range(first, last):
                zbar[doc, :] = 0.0
                if offsets[doc + 1] == offsets[doc]:
                    continue
                open_stream(&s, keys[doc])
                open_stream(&other, keys[doc] + 1)
                read(&d, &words[offsets[doc]], offsets[doc + 1] - offsets[doc])
                expected(d.word, d.count, d.n_unique, d.size, phi, &alpha[0], n_topics, soft, &scratch[2, 0],
                         &scratch[3, 0])
                failed = gather(&d, phi, &alpha[0], soft, n_topics, &scratch[4, 0], others)
                if failed:
                    break
                begin(&d, &c, &alpha[0], soft, &s)
                due = max(passes - burn_in, SLOTS if keep or d.size <= SHORT else 4)
                if d.n_active <= SLOW:
                    due = max(due, min(SLOW_PASSES, SLOW_TOKENS // d.size))
                kept = 0
                step = 1
                while True:
                    sweep(&d, &c, step >= burn_in, &s)
                    if step >= burn_in:
                        kept += 1
                        if keep and kept > due - SLOTS:
                            emit(&d, &c, phi, others, n_topics, kept % SLOTS, doc - first, drawn, &other)
                    step += 1
                    if kept == due:
                        if unsettled(&d, &c, kept) <= tolerance or step >= longest:
                            break
                        due *= 2
                proportions(&d, &c, phi, others, kept, zbar[doc])
    finally:
        free(d.cell)
        free(d.value)
    if failed:
        raise MemoryError
