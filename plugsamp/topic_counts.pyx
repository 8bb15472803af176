"""Document-topic counts, and the linear predictor that they give."""
from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import numpy as np


def count_topics(const uint16_t[::1] z, const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last,
                 int n_topics, int32_t[::1] sizes, uint16_t[::1] topics, int32_t[::1] counts):
    """Count the topics of documents first:last.

    The distinct topics of document d, ascending, go to ``topics[offsets[d]:][:sizes[d]]`` and how often
    they occur to `counts`: every document has room for its tokens, so blocks write independently.
    """
    cdef int n_sets = (n_topics + 63) // 64
    cdef int32_t* n = <int32_t*>calloc(n_topics, sizeof(int32_t))
    cdef uint64_t* met = <uint64_t*>calloc(n_sets, sizeof(uint64_t))
    cdef Py_ssize_t d, i, out
    cdef int s, k
    cdef uint64_t here
    if n == NULL or met == NULL:
        free(n)
        free(met)
        raise MemoryError(f"no memory to count {n_topics} topics")
    with nogil:
        for d in range(first, last):
            for i in range(offsets[d], offsets[d + 1]):
                n[z[i]] += 1
                met[z[i] >> 6] |= <uint64_t>1 << (z[i] & 63)
            out = offsets[d]
            for s in range(n_sets):
                here = met[s]
                k = s * 64
                while here:
                    if here & 1:
                        topics[out] = <uint16_t>k
                        counts[out] = n[k]
                        n[k] = 0
                        out += 1
                    here >>= 1
                    k += 1
                met[s] = 0
            sizes[d] = <int32_t>(out - offsets[d])
    free(n)
    free(met)


def count_words(const int32_t[::1] words, const uint16_t[::1] z, int32_t[:, ::1] topic_word):
    """n_kw of all tokens, word-major (V, stride)."""
    cdef Py_ssize_t i
    topic_word[:] = 0
    with nogil:
        for i in range(words.shape[0]):
            topic_word[words[i], z[i]] += 1


def sort_by_word(const int32_t[::1] words, const int32_t[::1] more, int32_t[::1] order, int64_t[::1] starts):
    """Places of tokens by word, each word's ascending; tokens of `more` are numbered on from those of `words`.

    `starts` (V + 1,) holds zeros on entry, and where each word begins in `order` on return.
    """
    cdef Py_ssize_t i, w, n = words.shape[0], m = more.shape[0], n_words = starts.shape[0] - 1
    with nogil:
        for i in range(n):
            starts[words[i] + 1] += 1
        for i in range(m):
            starts[more[i] + 1] += 1
        for w in range(n_words):
            starts[w + 1] += starts[w]
        for i in range(n):      # starts[w] moves on to the end of word w
            order[starts[words[i]]] = <int32_t>i
            starts[words[i]] += 1
        for i in range(m):
            order[starts[more[i]]] = <int32_t>(n + i)
            starts[more[i]] += 1
        for w in range(n_words, 0, -1):
            starts[w] = starts[w - 1]
        starts[0] = 0


def count_block(const uint16_t[::1] z, const int32_t[::1] pseudo, const int32_t[::1] order,
                const int64_t[::1] starts, Py_ssize_t first, Py_ssize_t last, int32_t[:, ::1] topic_word,
                int64_t[::1] totals):
    """n_kw of words first:last into their rows, and their sums over these words into `totals` (K,).

    Parameters
    ----------
    z : (N,); pseudo : (S,) topics of pseudo-tokens
    order, starts : tokens, then pseudo-tokens, by word (`sort_by_word`)
    """
    cdef Py_ssize_t w, k, n = z.shape[0]
    cdef int64_t t, end
    cdef int32_t* row
    totals[:] = 0
    if last <= first:
        return
    with nogil:
        memset(&topic_word[first, 0], 0, (last - first) * topic_word.shape[1] * sizeof(int32_t))
        for w in range(first, last):
            row = &topic_word[w, 0]
            end = starts[w + 1]
            for t in range(starts[w], end):
                k = z[order[t]] if order[t] < n else pseudo[order[t] - n]
                row[k] += 1
                totals[k] += 1


def count_cells(const uint16_t[::1] z, const int32_t[::1] pseudo, const int32_t[::1] order,
                const int64_t[::1] starts, Py_ssize_t first, Py_ssize_t last, int64_t[::1] times,
                int64_t[::1] totals):
    """How often each n_kw above 0 occurs among words first:last, without a table of them.

    n occurs ``times[n]`` times; those that `times` has no place for are returned, int64. The words' sums go to
    `totals` (K,). Parameters as of `count_block`.
    """
    cdef int n_topics = <int>totals.shape[0]
    cdef int32_t* counts = <int32_t*>calloc(n_topics, sizeof(int32_t))
    cdef Py_ssize_t w, t, n = z.shape[0], most = 0, size = times.shape[0]
    cdef int k
    if counts == NULL:
        raise MemoryError(f"no memory to count {n_topics} topics")
    for w in range(first, last):
        most += (starts[w + 1] - starts[w]) // size
    beyond = np.empty(most, np.int64)
    cdef int64_t[::1] large = beyond
    cdef Py_ssize_t n_large = 0
    times[:] = 0
    totals[:] = 0
    with nogil:
        for w in range(first, last):
            for t in range(starts[w], starts[w + 1]):
                k = z[order[t]] if order[t] < n else pseudo[order[t] - n]
                counts[k] += 1
            for t in range(starts[w], starts[w + 1]):       # each topic once: its count is then 0
                k = z[order[t]] if order[t] < n else pseudo[order[t] - n]
                if counts[k] == 0:
                    continue
                totals[k] += counts[k]
                if counts[k] < size:
                    times[counts[k]] += 1
                else:
                    large[n_large] = counts[k]
                    n_large += 1
                counts[k] = 0
    free(counts)
    return beyond[:n_large]


def scan_cells(const int32_t[:, ::1] topic_word, Py_ssize_t first, Py_ssize_t last, int64_t[::1] times,
               int64_t[::1] totals):
    """`count_cells` where n_kw are at hand, (V, stride)."""
    cdef Py_ssize_t w, k, n_topics = totals.shape[0], size = times.shape[0]
    cdef int32_t n
    large = []
    times[:] = 0
    totals[:] = 0
    for w in range(first, last):
        for k in range(n_topics):
            n = topic_word[w, k]
            if n:
                totals[k] += n
                if n < size:
                    times[n] += 1
                else:
                    large.append(n)
    return np.array(large, np.int64)


def compact(const int64_t[::1] offsets, const int32_t[::1] sizes, const uint16_t[::1] topics,
            const int32_t[::1] counts, const int64_t[::1] indptr, uint16_t[::1] topics_out,
            int32_t[::1] counts_out):
    """Close the gaps that `count_topics` leaves: a CSR matrix with `indptr` = running sums of `sizes`."""
    cdef Py_ssize_t d, j
    with nogil:
        for d in range(sizes.shape[0]):
            for j in range(sizes[d]):
                topics_out[indptr[d] + j] = topics[offsets[d] + j]
                counts_out[indptr[d] + j] = counts[offsets[d] + j]


def linear_predictor(const int64_t[::1] offsets, const int32_t[::1] sizes, const uint16_t[::1] topics,
                     const int32_t[::1] counts, Py_ssize_t first, Py_ssize_t last,
                     const double[:, ::1] eta, double[:, ::1] f):
    """Add sum_k eta_kc n_dk / N_d to ``f[d - first]``, documents first:last; `eta` is (K, C)."""
    cdef Py_ssize_t d, j, c, n_outputs = eta.shape[1]
    cdef double share
    cdef const double* row
    cdef double* out
    if n_outputs == 0:
        return
    with nogil:
        for d in range(first, last):
            out = &f[d - first, 0]
            for j in range(offsets[d], offsets[d] + sizes[d]):
                share = counts[j] / <double>(offsets[d + 1] - offsets[d])
                row = &eta[topics[j], 0]
                for c in range(n_outputs):
                    out[c] += share * row[c]
