"""A new document as fold-in reads it: unique words with counts, and the topics that each may have."""
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.stdlib cimport realloc

from plugsamp.kernels.lanes cimport (
    l_above, l_add, l_load, l_lowest, l_mul, l_prefetch, l_set, l_store, l_sum, l_where_above, lf
)

cdef enum:
    SOFT = 3  # rounds of expected counts


cdef struct Document:
    Py_ssize_t size, n_unique, n_active, capacity, width
    Py_ssize_t steps   # since signals were looked for
    int32_t *word      # (n_unique) words, ascending
    int32_t *count     # (n_unique) their tokens
    int64_t *begin     # (n_unique + 1) where a word's cells begin
    int32_t *cell      # place among the active topics, cell by cell
    float *value       # phi, cell by cell
    float *rest        # (n_unique) mass of the word's topics without a cell, the rest
    float *least       # (n_unique) phi times `limit` from which on a topic has a cell
    int32_t *active    # (n_active) topics
    int32_t *place     # (K) their places among the active ones
    float *soft        # (width) expected counts
    float *mean        # (width) alpha and expected counts: what a topic of the rest is weighted by
    float *limit       # (width) the most alpha and counts of an active topic, 0 of the others
    float *share       # (width) scratch
    float *weights     # (width) scratch


cdef inline void read(Document* d, const int32_t* words, Py_ssize_t size) noexcept nogil:
    """Find the unique words of a document and their counts."""
    cdef Py_ssize_t at
    d.size, d.n_unique = size, 0
    for at in range(size):
        if d.n_unique and d.word[d.n_unique - 1] == words[at]:
            d.count[d.n_unique - 1] += 1
        else:
            d.word[d.n_unique] = words[at]
            d.count[d.n_unique] = 1
            d.n_unique += 1


cdef inline void expect(Document* d, const float[:, ::1] phi, const float* alpha, Py_ssize_t n_topics) noexcept nogil:
    """Compute `SOFT` rounds of expected counts given expected counts, from even ones."""
    cdef Py_ssize_t g, i, ahead
    cdef int step
    cdef const float *row
    cdef lf total, p, scale
    for g in range(d.width):
        d.soft[g] = <float>d.size / n_topics
    for step in range(SOFT):
        for g in range(d.width):
            d.share[g] = 0.0
        for i in range(d.n_unique):
            row = &phi[d.word[i], 0]
            if step == 0:
                ahead = i + 4 if i + 4 < d.n_unique else d.n_unique - 1
                for g in range(0, d.width, 16):
                    l_prefetch(&phi[d.word[ahead], g])
            total = l_set(0.0)
            for g in range(0, d.width, 16):
                p = l_mul(l_load(row + g), l_add(l_load(d.soft + g), l_load(alpha + g)))
                l_store(d.weights + g, p)
                total = l_add(total, p)
            scale = l_set(<float>d.count[i] / l_sum(total))
            for g in range(0, d.width, 16):
                l_store(d.share + g, l_add(l_load(d.share + g), l_mul(scale, l_load(d.weights + g))))
        for g in range(d.width):
            d.soft[g] = d.share[g]


cdef inline lf others(Document* d, Py_ssize_t i, const float* row, Py_ssize_t g) noexcept nogil:
    """Masses of topics g:g+16 in the rest of a word; 0 of those with a cell."""
    cdef lf value = l_load(row + g)
    return l_where_above(l_mul(value, l_load(d.limit + g)), l_set(d.least[i]), l_set(0.0),
                         l_mul(value, l_load(d.mean + g)))


cdef inline int gather(Document* d, const float[:, ::1] phi, const float* alpha, Py_ssize_t n_topics) noexcept nogil:
    """List the active topics and each word's cells; -1 without memory.

    Topics with few expected tokens have no counts of their own. Nor has a topic in a word of whose mass it
    has a small part, at the most tokens that it may have.
    """
    cdef float few = 0.02, small = 0.02
    cdef Py_ssize_t k, i, g, m = 0, wanted
    cdef float most
    cdef const float *row
    cdef lf total
    cdef uint32_t there
    few = few if d.size >= 50 else few * d.size / 50
    d.n_active = 0
    for k in range(d.width):
        d.mean[k] = alpha[k] + d.soft[k]
        d.limit[k] = 0.0
    for k in range(n_topics):
        if d.soft[k] > few:
            d.active[d.n_active] = <int32_t>k
            d.place[k] = <int32_t>d.n_active
            most = 4.0 * d.soft[k] + 2.0
            d.limit[k] = alpha[k] + (most if most < d.size else <float>d.size)
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
        total = l_set(0.0)
        for g in range(0, d.width, 16):
            total = l_add(total, l_mul(l_load(row + g), l_load(d.mean + g)))
        d.least[i] = small * l_sum(total)
        total = l_set(0.0)
        for g in range(0, d.width, 16):
            total = l_add(total, others(d, i, row, g))
            there = l_above(l_mul(l_load(row + g), l_load(d.limit + g)), d.least[i])
            while there:
                k = g + l_lowest(there)
                there &= there - 1
                d.cell[m] = d.place[k]
                d.value[m] = row[k]
                m += 1
        d.rest[i] = l_sum(total)
        if d.rest[i] < 1e-30 and m == d.begin[i]:
            d.rest[i] = 1e-30
    d.begin[d.n_unique] = m
    return 0
