"""Topic proportions of new documents given fixed topics (model.md section 7): Gibbs chains, one a lane."""

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free

import numpy as np

from plugsamp.system.arena import aligned

from plugsamp.kernels.lanes cimport l_add, l_div, l_load, l_mul, l_one_above, l_set, l_store, l_sub, lf
from plugsamp.kernels.new_document cimport Document, expect, gather, others, read
from plugsamp.random.streams cimport Stream, bits, open_stream, splitmix, uniform
from plugsamp.system.interrupts cimport check_signals

cdef enum:
    LANES = 16
    SHUFFLES = 256
    SLOTS = 16  # passes whose ends are draws
    SHORT = 32  # tokens of a document that has sixteen passes at least
    SLOW = 4  # with so few active topics chains may mix slowly, and passes are cheap
    SLOW_PASSES = 512
    SLOW_TOKENS = 131072
    FLUSH = 4096  # float32 sums are kept shorter than this

#: Pulls the slopes of control variates towards 0 where they hardly vary.
cdef double PRIOR_SLOPE = 1.0


cdef struct Chains:
    float *n           # (n_active, 16) counts
    float *prior       # (n_active) alpha
    float *soft        # (n_active) expected counts
    float *sums        # (n_active, 16) sums of token probabilities
    float *rest        # (n_unique, 16) the same of the rest, word by word
    float *z           # (size, 16) places in the word's list, 0 for the rest
    float *running     # (cells of a word, 16)
    double *now        # (n_active, 16) `sums` of this pass
    float *before      # (n_active, 16) counts when the pass began
    float *begun       # (n_active, 16) counts when the first kept pass began
    double *total      # (n_active, 2, 16) over kept passes, token probabilities and counts less these
    double *slope      # (n_active) of the probabilities on the control variate


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


cdef inline void start_token(Document* d, Chains* c, Py_ssize_t i, float left, float* z, Stream* s) noexcept nogil:
    """Draw a first topic given those before, and the expected counts of the part `left` of the tokens."""
    cdef Py_ssize_t j, a, m = d.begin[i + 1] - d.begin[i]
    cdef int32_t *cell = d.cell + d.begin[i]
    cdef float *value = d.value + d.begin[i]
    cdef float *counts = c.n
    cdef float *running = c.running
    cdef lf acc = l_set(d.rest[i]), n, above, before, place, target
    for j in range(m):
        a = cell[j]
        n = l_add(l_load(counts + a * LANES), l_set(c.prior[a] + left * c.soft[a]))
        acc = l_add(acc, l_mul(l_set(value[j]), n))
        l_store(running + j * LANES, acc)
    target = l_mul(acc, stratified(s))
    before = l_one_above(target, l_set(d.rest[i]))
    place = before
    for j in range(m):
        a = cell[j]
        above = l_set(0.0) if j == m - 1 else l_one_above(target, l_load(running + j * LANES))
        l_store(counts + a * LANES, l_add(l_load(counts + a * LANES), l_sub(before, above)))
        place = l_add(place, above)
        before = above
    l_store(z, place)


cdef inline void token(Document* d, Chains* c, Py_ssize_t i, float* z, bint keep, Stream* s) noexcept nogil:
    """Draw a token's topic given the others in every lane; if wanted, sum its probabilities."""
    cdef Py_ssize_t j, a, m = d.begin[i + 1] - d.begin[i]
    cdef int32_t *cell = d.cell + d.begin[i]
    cdef float *value = d.value + d.begin[i]
    cdef float *counts = c.n
    cdef float *prior = c.prior
    cdef float *running = c.running
    cdef float *sums = c.sums
    cdef lf old = l_load(z), acc = l_set(d.rest[i]), limit = l_set(0.5), one = l_set(1.0)
    cdef lf n, above, before, place, target, scale, p
    before = l_one_above(old, limit)
    for j in range(m):
        a = cell[j]
        limit = l_add(limit, one)
        above = l_one_above(old, limit)
        n = l_sub(l_load(counts + a * LANES), l_sub(before, above))
        before = above
        l_store(counts + a * LANES, n)
        acc = l_add(acc, l_mul(l_set(value[j]), l_add(n, l_set(prior[a]))))
        l_store(running + j * LANES, acc)
    target = l_mul(acc, stratified(s))
    scale = l_div(one, acc)
    before = l_one_above(target, l_set(d.rest[i]))
    place = before
    if keep:
        l_store(c.rest + i * LANES, l_add(l_load(c.rest + i * LANES), l_mul(scale, l_set(d.rest[i]))))
    for j in range(m):
        a = cell[j]
        above = l_set(0.0) if j == m - 1 else l_one_above(target, l_load(running + j * LANES))
        n = l_load(counts + a * LANES)
        if keep:
            p = l_mul(l_set(value[j]), l_add(n, l_set(prior[a])))
            l_store(sums + a * LANES, l_add(l_load(sums + a * LANES), l_mul(p, scale)))
        l_store(counts + a * LANES, l_add(n, l_sub(before, above)))
        place = l_add(place, above)
        before = above
    l_store(z, place)


cdef int sweep(Document* d, Chains* c, bint keep, bint first, Stream* s) except -1 nogil:
    cdef Py_ssize_t i, t, at = 0, pending = 0, g
    if keep:
        for g in range(d.n_active * LANES):
            c.before[g] = c.n[g]
            c.now[g] = 0.0
        if first:
            for g in range(d.n_active * LANES):
                c.begun[g] = c.n[g]
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
    cdef double *total
    for a in range(d.n_active):
        total = c.total + 2 * a * LANES
        for l in range(LANES):
            total[l] += c.now[a * LANES + l]
            total[LANES + l] += c.before[a * LANES + l] - c.now[a * LANES + l]


cdef inline double control(Chains* c, Py_ssize_t a, Py_ssize_t l) noexcept nogil:
    """The control variate of a chain: counts at the beginnings and ends of passes, less probabilities."""
    cdef Py_ssize_t g = a * LANES + l
    return c.total[(2 * a + 1) * LANES + l] + 0.5 * (c.n[g] - c.begun[g])


cdef double unsettled(Document* d, Chains* c, Py_ssize_t kept) noexcept nogil:
    """Fit the slopes; return the standard error of the proportions, half the sum over topics."""
    cdef Py_ssize_t a, l
    cdef double r, e, mean_r, mean_e, cross, own, square, left, found = 0.0
    for a in range(d.n_active):
        mean_r = mean_e = cross = own = square = 0.0
        for l in range(LANES):
            mean_r += c.total[2 * a * LANES + l] / LANES
            mean_e += control(c, a, l) / LANES
        for l in range(LANES):
            r = c.total[2 * a * LANES + l] - mean_r
            e = control(c, a, l) - mean_e
            cross += r * e
            own += e * e
            square += r * r
        c.slope[a] = cross / (own + PRIOR_SLOPE)
        left = square - 2.0 * c.slope[a] * cross + c.slope[a] * c.slope[a] * own
        if left > 0.0:
            found += sqrt(left / (LANES - 2) * (1.0 / LANES + mean_e * mean_e / (own + PRIOR_SLOPE)))
    return 0.4 * found / (kept * d.size)  # E|x| of a normal error is .8 of its deviation


cdef void emit(Document* d, Chains* c, const float[:, ::1] phi, Py_ssize_t n_topics, Py_ssize_t slot,
               Py_ssize_t doc, float[:, :, ::1] drawn, Stream* s) noexcept nogil:
    """Write the share of tokens in each topic, of every chain; tokens in the rest draw a topic of it."""
    cdef Py_ssize_t a, l, i, t, g, k, last, at = 0
    cdef float left
    for l in range(LANES):
        for k in range(n_topics):
            drawn[slot * LANES + l, doc, k] = 0.0
        for a in range(d.n_active):
            drawn[slot * LANES + l, doc, d.active[a]] = c.n[a * LANES + l] / d.size
    for i in range(d.n_unique):
        for g in range(0, d.width, 16):
            l_store(d.weights + g, others(d, i, &phi[d.word[i], 0], g))
        for t in range(d.count[i]):
            for l in range(LANES):
                if c.z[at * LANES + l] < 0.5:
                    left = uniform(s) * d.rest[i]
                    last = -1
                    for k in range(n_topics):
                        if d.weights[k] > 0.0:
                            last = k
                            left -= d.weights[k]
                            if left < 0.0:
                                break
                    if last < 0:
                        last = d.active[0]
                    drawn[slot * LANES + l, doc, last] += <float>1.0 / d.size
            at += 1


cdef int begin(Document* d, Chains* c, const float* alpha, Stream* s) except -1 nogil:
    """Clear the sums and draw the chains' first topics."""
    cdef Py_ssize_t a, l, i, t, at = 0
    for a in range(d.n_active):
        c.prior[a] = alpha[d.active[a]]
        c.soft[a] = d.soft[d.active[a]]
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


cdef void proportions(Document* d, Chains* c, const float[:, ::1] phi, Py_ssize_t kept,
                      double[::1] zbar) noexcept nogil:
    """The mean over chains and passes, with the control variates taken off."""
    cdef Py_ssize_t a, l, i, g, k
    cdef double x, unit = 1.0 / (<double>d.size * kept * LANES)
    for g in range(d.width):
        d.share[g] = 0.0
    for i in range(d.n_unique):
        x = 0.0
        for l in range(LANES):
            x += c.rest[i * LANES + l]
        if x > 0.0:
            x *= unit / d.rest[i]
            for g in range(0, d.width, 16):
                l_store(d.share + g, l_add(l_load(d.share + g),
                                           l_mul(l_set(<float>x), others(d, i, &phi[d.word[i], 0], g))))
    for k in range(zbar.shape[0]):
        zbar[k] = d.share[k]
    for a in range(d.n_active):
        x = 0.0
        for l in range(LANES):
            x += c.total[2 * a * LANES + l] - c.slope[a] * control(c, a, l)
        if x > 0.0:
            zbar[d.active[a]] += x * unit


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
        Passes left out, and passes in all at least. More are run, a quarter of those kept at a time, until
        the estimated standard error, as total variation, is `tolerance` at most, or there are `longest`
        passes or more.
    drawn : (256, last - first, K), or (0, 0, K)
        If wanted, the share of tokens in each topic at the end of the last sixteen passes of each chain.

    Notes
    -----
    zbar is the mean over kept passes of each token's topic probabilities given the other tokens (Rao and
    Blackwell). In a stationary chain a pass's sum of these has the same mean as the counts before it, so
    their difference is a control variate for slow chains (Dellaportas and Kontoyiannis 2012). The counts of a
    pass are the mean of those at its beginning and its end: so the ends of a short chain cancel to first
    order. The slopes are those of a regression over the totals of the 16 chains.
    A word is compared with the topics alone that the document may have: those with a few expected tokens,
    by `SOFT` rounds of expected counts. In the rest, topics have alpha and their expected counts.
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
    cdef float[:, ::1] scratch = aligned((5, width), np.float32)
    cdef int32_t[:, ::1] whole = np.empty((2, max(most, n_topics)), np.int32)
    cdef int32_t[:, ::1] topics = np.empty((2, n_topics), np.int32)
    cdef int64_t[::1] edges = np.empty(most + 1, np.int64)
    cdef float[:, ::1] rest = np.empty((2, most), np.float32)
    cdef float[:, ::1] of_topics = aligned((5, n_topics * LANES), np.float32)
    cdef float[:, ::1] plain = np.empty((2, n_topics), np.float32)
    cdef float[:, ::1] of_tokens = aligned((2, most * LANES), np.float32)
    cdef double[:, ::1] sums = aligned((4, n_topics * LANES), np.float64)
    d.capacity, d.steps, d.cell, d.value, d.width = 0, 0, NULL, NULL, width
    d.word, d.count, d.begin, d.active, d.place = &whole[0, 0], &whole[1, 0], &edges[0], &topics[0, 0], &topics[1, 0]
    d.soft, d.mean, d.limit, d.share, d.weights = (
        &scratch[0, 0], &scratch[1, 0], &scratch[2, 0], &scratch[3, 0], &scratch[4, 0])
    d.rest, d.least = &rest[0, 0], &rest[1, 0]
    c.n, c.sums, c.running = &of_topics[0, 0], &of_topics[1, 0], &of_topics[2, 0]
    c.before, c.begun = &of_topics[3, 0], &of_topics[4, 0]
    c.prior, c.soft, c.rest, c.z = &plain[0, 0], &plain[1, 0], &of_tokens[0, 0], &of_tokens[1, 0]
    c.total, c.now, c.slope = &sums[0, 0], &sums[2, 0], &sums[3, 0]
    try:
        with nogil:
            for doc in range(first, last):
                zbar[doc, :] = 0.0
                if offsets[doc + 1] == offsets[doc]:
                    continue
                open_stream(&s, keys[doc])
                open_stream(&other, keys[doc] + 1)
                read(&d, &words[offsets[doc]], offsets[doc + 1] - offsets[doc])
                expect(&d, phi, &alpha[0], n_topics)
                failed = gather(&d, phi, &alpha[0], n_topics)
                if failed:
                    break
                begin(&d, &c, &alpha[0], &s)
                due = max(passes - burn_in, SLOTS if keep or d.size <= SHORT else 4)
                if d.n_active <= SLOW:
                    due = max(due, min(SLOW_PASSES, SLOW_TOKENS // d.size))
                kept = 0
                step = 1
                while True:
                    sweep(&d, &c, step >= burn_in, kept == 0, &s)
                    if step >= burn_in:
                        kept += 1
                        if keep and kept > due - SLOTS:
                            emit(&d, &c, phi, n_topics, kept % SLOTS, doc - first, drawn, &other)
                    step += 1
                    if kept == due:
                        if unsettled(&d, &c, kept) <= tolerance or step >= longest:
                            break
                        due += max(2, due // 4)
                proportions(&d, &c, phi, kept, zbar[doc])
    finally:
        free(d.cell)
        free(d.value)
    if failed:
        raise MemoryError
