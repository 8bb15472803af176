"""Draws of the topics Φ, one Dirichlet a topic (model.md section 5), in word-major order.

Nearly all cells have no tokens and shape β_w < 1: their gamma draws take the algorithm GS of Ahrens and
Dieter (1974), vectorised (`gamma.h`); a draw below 1e-30, where float32 loses its digits, is set to 1e-30 (at β = .01
half of all draws lie there, and together they hold less than 1e-24 of a topic's mass).
"""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from plugsamp.kernels.lanes cimport *
from plugsamp.random.streams cimport BUFFER, Stream, open_stream, refill
from plugsamp.topics.gammas cimport gamma_cell, gamma_small, second_look

cdef float FLOOR = 1e-30
cdef float SMALLEST_VECTOR_SHAPE = 1e-3   # below it 24 random bits are too few for the tail's mass


def draw_gammas(const int32_t[:, ::1] topic_word, const float[::1] beta, Py_ssize_t first, Py_ssize_t last,
                int n_topics, float[:, ::1] phi, double[::1] totals, uint64_t key, bint masked=False):
    """Draw phi[w, k] ~ Gamma(n_kw + beta_w) for words first:last, and their sums over words.

    Parameters
    ----------
    topic_word : (V, stride); beta : (V,); phi : (V, stride), written; padding columns get 0.
    totals : (n_topics,) of float64, written: sums over these words, added in word order.
    key : of the block's stream.
    masked : whether cells of phi that are 0 on entry stay 0.
    """
    cdef Stream stream
    cdef Stream second
    cdef Py_ssize_t w
    cdef int k, n, g, j, stride = <int>phi.shape[1]
    cdef uint32_t left
    cdef const uint32_t* u
    cdef float b, inverse, a
    cdef const int32_t* counts
    cdef float* row
    with nogil:
        open_stream(&stream, key)
        open_stream(&second, key ^ <uint64_t>0xA5A5A5A5A5A5A5A5)
        for k in range(n_topics):
            totals[k] = 0
        for w in range(first, last):
            a = beta[w]
            row = &phi[w, 0]
            counts = &topic_word[w, 0]
            if masked:  # cell by cell: few are left
                for k in range(n_topics):
                    if row[k] > 0:
                        row[k] = gamma_cell(&stream, counts[k] + <double>a)
            elif SMALLEST_VECTOR_SHAPE <= a < 1:
                inverse = 1 / a
                b = 1 + a * <float>0.36787944117144233
                for k in range(0, n_topics, 256):
                    n = min(BUFFER, n_topics - k)
                    if stream.used + n > BUFFER:
                        refill(&stream)
                    u = stream.buffer + stream.used
                    stream.used += n
                    gamma_small(row + k, u, n, inverse, 0, b, FLOOR)
                    for g in range(k, k + n, 16):
                        left = l_above(l_from_int(counts + g), 0) | l_below(l_load(row + g), 0)
                        while left:
                            j = g + l_lowest(left)
                            left &= left - 1
                            if j >= k + n:
                                break
                            if counts[j] > 0:
                                row[j] = gamma_cell(&second, counts[j] + <double>a)
                            else:
                                row[j] = second_look(&second, a, row[j], u[j - k])
            else:
                for k in range(n_topics):
                    row[k] = gamma_cell(&second, counts[k] + <double>a)
            for k in range(n_topics):
                totals[k] += row[k]
            for k in range(n_topics, stride):
                row[k] = 0


def scale_rows(float[:, ::1] phi, const float[::1] factor, Py_ssize_t first, Py_ssize_t last):
    """Multiply phi[w, k] by factor[k] for words first:last."""
    cdef Py_ssize_t w
    cdef int k, stride = <int>phi.shape[1]
    with nogil:
        for w in range(first, last):
            for k in range(stride):
                phi[w, k] *= factor[k]
