"""Draws of the topics Φ, one Dirichlet a topic (MODEL section 5), in word-major order.

Nearly all cells have no tokens and shape β_w < 1: their gamma draws take the algorithm GS of Ahrens and
Dieter (1974), vectorised; a draw below 1e-30, where float32 loses its digits, is set to 1e-30 (at β = .01
half of all draws lie there, and together they hold less than 1e-24 of a topic's mass).
"""
from libc.math cimport exp, log, log1p, sqrt
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from plugsamp.random.streams cimport BUFFER, Stream, bits, open_stream, refill, uniform53

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    /* log of a positive normal float, absolute error below 2e-7 around 1. */
    static inline float fast_log(float x) {
      int32_t i, e;
      float m, y, z;
      memcpy(&i, &x, 4);
      e = (i - 0x3f3504f3) >> 23;
      i -= e << 23;
      memcpy(&m, &i, 4);
      m -= 1.0f;
      z = m * m;
      y = 7.0376836292e-2f;
      y = y * m - 1.1514610310e-1f;
      y = y * m + 1.1676998740e-1f;
      y = y * m - 1.2420140846e-1f;
      y = y * m + 1.4249322787e-1f;
      y = y * m - 1.6668057665e-1f;
      y = y * m + 2.0000714765e-1f;
      y = y * m - 2.4999993993e-1f;
      y = y * m + 3.3333331174e-1f;
      y = y * m * z - 0.5f * z + (float)e * -2.12194440e-4f;
      return m + y + (float)e * 0.693359375f;
    }
    static inline float fast_exp(float x) {
      int32_t n;
      float m, y, p;
      x = x < -87.0f ? -87.0f : x;
      x = x > 88.0f ? 88.0f : x;
      n = (int32_t)(x * 1.44269504f + 127.5f);
      m = (float)(n - 127);
      x = (x - m * 0.693359375f) - m * -2.12194440e-4f;
      y = 1.9875691500e-4f;
      y = y * x + 1.3981999507e-3f;
      y = y * x + 8.3334519073e-3f;
      y = y * x + 4.1665795894e-2f;
      y = y * x + 1.6666665459e-1f;
      y = y * x + 5.0000001201e-1f;
      y = y * x * x + x + 1.0f;
      n <<= 23;
      memcpy(&p, &n, 4);
      return y * p;
    }
    /* GS for n cells of shape a < 1: x = p^(1/a) with p = b u. A cell that needs a second look gets -1
     * (rejected: draw anew) or -2 (p > 1: the tail). Relative error of x below 3e-7 / a. */
    static inline void gamma_small(float *__restrict out, const uint32_t *__restrict u,
                                   const uint32_t *__restrict v, int n, float inverse_a, float b) {
      for (int i = 0; i < n; i++) {
        float p = b * ((float)(int32_t)(u[i] >> 8) + 0.5f) * (1.0f / 16777216.0f);
        float q = ((float)(int32_t)(v[i] >> 8) + 0.5f) * (1.0f / 16777216.0f);
        float x = fast_exp(fast_log(p) * inverse_a);
        float y = q > fast_exp(-x) ? -1.0f : x;
        y = p > 1.0f ? -2.0f : y;
        out[i] = (y >= 0.0f) & (y < 1e-30f) ? 1e-30f : y;
      }
    }
    """
    void gamma_small(float* out, const uint32_t* u, const uint32_t* v, int n, float inverse_a, float b) nogil

cdef float FLOOR = 1e-30
cdef float SMALLEST_VECTOR_SHAPE = 1e-3   # below it 24 random bits are too few for the tail's mass


cdef double normal(Stream* s) noexcept nogil:
    """A standard normal (Marsaglia's polar form, one of the pair)."""
    cdef double x, y, r
    while True:
        x = 2 * uniform53(s) - 1
        y = 2 * uniform53(s) - 1
        r = x * x + y * y
        if 0 < r < 1:
            return x * sqrt(-2 * log(r) / r)


cdef double gamma_large(Stream* s, double shape) noexcept nogil:
    """Gamma(shape >= 1), scale 1 (Marsaglia and Tsang 2000)."""
    cdef double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d), x, v, u
    while True:
        x = normal(s)
        v = 1 + c * x
        if v <= 0:
            continue
        v = v * v * v
        u = uniform53(s)
        if u < 1 - 0.0331 * x * x * x * x or log(u) < 0.5 * x * x + d * (1 - v + log(v)):
            return d * v


cdef double gamma_below_one(Stream* s, double a) noexcept nogil:
    """Gamma(a < 1), scale 1, by GS."""
    cdef double b = 1 + a * 0.36787944117144233, p, x
    while True:
        p = b * uniform53(s)
        if p <= 1:
            x = exp(log(p) / a)
            if uniform53(s) <= exp(-x):
                return x
        else:
            x = -log((b - p) / a)
            if log(uniform53(s)) <= (a - 1) * log(x):
                return x


cdef float gamma_cell(Stream* s, double shape) noexcept nogil:
    cdef double x = gamma_large(s, shape) if shape >= 1 else gamma_below_one(s, shape)
    return <float>x if x > FLOOR else FLOOR


cdef float second_look(Stream* s, double a, bint tail) noexcept nogil:
    """A cell that `gamma_small` left: the tail beyond 1 is tried first where p > 1 asked for it."""
    cdef double x
    if tail:
        x = 1 - log(uniform53(s))
        if log(uniform53(s)) <= (a - 1) * log(x):
            return <float>x
    return gamma_cell(s, a)


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
    cdef int k, n, stride = <int>phi.shape[1]
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
                    refill(&stream)
                    refill(&second)
                    gamma_small(row + k, stream.buffer, second.buffer, n, inverse, b)
                stream.used = BUFFER
                second.used = BUFFER
                for k in range(n_topics):
                    if counts[k] > 0:
                        row[k] = gamma_cell(&stream, counts[k] + <double>a)
                    elif row[k] < 0:
                        row[k] = second_look(&stream, a, row[k] == -2)
            else:
                for k in range(n_topics):
                    row[k] = gamma_cell(&stream, counts[k] + <double>a)
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
