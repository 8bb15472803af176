"""Fills, arranges and reads the packed cells of words (packed.h); the class over them is word_topics.WordTopics."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free

from plugsamp.kernels.packed cimport p_pack, p_sort, p_unpack, p_word

#: Bytes of a word's record.
WORD_SIZE = sizeof(p_word)


cdef inline bint pays(const p_word* word, int n, int n_topics, int row) noexcept nogil:
    return word.must_row or (word.may_row and n * row > n_topics)


def clear(uint8_t[::1] lists, uint8_t[::1] room, int n_topics, int stride, size_t units, Py_ssize_t first,
          Py_ssize_t last, Py_ssize_t n_words):
    """No topics for words first:last of all."""
    cdef p_word* word = <p_word*>&lists[0]
    cdef uint32_t* zeros = <uint32_t*>calloc(stride, 4)
    cdef Py_ssize_t w, cells
    cdef uint8_t* base = &room[0]
    cdef size_t end
    if zeros == NULL:
        raise MemoryError(f"no memory for {stride} topics")
    with nogil:
        for w in range(first, last):
            end = word[w + 1].at if w + 1 < n_words else units
            cells = (end - word[w].at) * 16 // (1 + word[w].wide)
            # as if full before, so that all of it is padded
            word[w].row, word[w].size = 0, <int>cells
            p_pack(&word[w], base + 32 * <size_t>word[w].at, 0, n_topics, stride, zeros, word[w].must_row)
    free(zeros)


def count(uint8_t[::1] lists, uint8_t[::1] room, int bits, int n_topics, int stride, int row,
           const uint16_t[::1] z, const int32_t[::1] pseudo, const int32_t[::1] order, const int64_t[::1] edges,
           Py_ssize_t first, Py_ssize_t last):
    """Count the tokens order[edges[w]:edges[w + 1]] of words first:last, which have no topics.

    A token's topic is in `z`, or past its end in `pseudo`.
    """
    cdef p_word* word = <p_word*>&lists[0]
    cdef uint32_t* n = <uint32_t*>calloc(stride, 4)
    cdef Py_ssize_t w, i, t, n_tokens = z.shape[0]
    cdef int topics, k
    cdef uint8_t* base = &room[0]
    if n == NULL:
        raise MemoryError(f"no memory for {stride} topics")
    with nogil:
        for w in range(first, last):
            topics = 0
            for i in range(edges[w], edges[w + 1]):
                t = order[i]
                k = z[t] if t < n_tokens else pseudo[t - n_tokens]
                topics += n[k] == 0
                n[k] += 1
            if topics:
                p_pack(&word[w], base + 32 * <size_t>word[w].at, bits, n_topics, stride, n,
                       pays(&word[w], topics, n_topics, row))
            for i in range(edges[w], edges[w + 1]):
                t = order[i]
                n[z[t] if t < n_tokens else pseudo[t - n_tokens]] = 0
    free(n)


def arrange(uint8_t[::1] lists, uint8_t[::1] room, int bits, int n_topics, int stride, int row,
             Py_ssize_t first, Py_ssize_t last):
    cdef p_word* word = <p_word*>&lists[0]
    cdef uint32_t* n = <uint32_t*>calloc(stride, 4)
    cdef Py_ssize_t w
    cdef int topics, k, wanted
    cdef bint used
    cdef uint8_t* base = &room[0]
    cdef void* cells
    if n == NULL:
        raise MemoryError(f"no memory for {stride} topics")
    with nogil:
        for w in range(first, last):
            cells = base + 32 * <size_t>word[w].at
            topics = word[w].size
            used = word[w].row
            if word[w].row:
                p_unpack(&word[w], cells, bits, n)
                topics = 0
                for k in range(n_topics):
                    topics += n[k] > 0
            wanted = pays(&word[w], topics, n_topics, row)
            if wanted != word[w].row:
                if wanted:
                    p_unpack(&word[w], cells, bits, n)
                    used = True
                p_pack(&word[w], cells, bits, n_topics, stride, n, wanted)
            if used:
                for k in range(stride):
                    n[k] = 0
            if not wanted:
                p_sort(&word[w], cells)
    free(n)


def table(uint8_t[::1] lists, uint8_t[::1] room, int bits, uint32_t[:, ::1] out):
    cdef p_word* word = <p_word*>&lists[0]
    cdef Py_ssize_t w
    for w in range(out.shape[0]):
        p_unpack(&word[w], &room[32 * <size_t>word[w].at], bits, &out[w, 0])
