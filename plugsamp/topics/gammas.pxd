"""Gamma draws one by one, and what `gamma.h` has in bulk."""
from libc.math cimport exp, log, sqrt
from libc.stdint cimport uint32_t

from plugsamp.random.streams cimport Stream, uniform53

cdef extern from "plugsamp/topics/gamma.h" nogil:
    void gamma_small(float* out, const uint32_t* u, int n, float inverse_a, float low, float width, float floor)
    void exponentials(float* out, const uint32_t* u, int n)
    float fast_log(float x)
    float fast_exp(float x)


cdef inline double normal(Stream* s) noexcept nogil:
    """A standard normal (Marsaglia's polar form, one of the pair)."""
    cdef double x, y, r
    while True:
        x = 2 * uniform53(s) - 1
        y = 2 * uniform53(s) - 1
        r = x * x + y * y
        if 0 < r < 1:
            return x * sqrt(-2 * log(r) / r)


cdef inline double gamma_large(Stream* s, double shape) noexcept nogil:
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


cdef inline double gamma_below_one(Stream* s, double a) noexcept nogil:
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


cdef inline float gamma_cell(Stream* s, double shape) noexcept nogil:
    cdef double x = gamma_large(s, shape) if shape >= 1 else gamma_below_one(s, shape)
    return <float>x if x > 1e-30 else <float>1e-30


cdef inline float second_look(Stream* s, double a, float found, uint32_t u) noexcept nogil:
    """A cell that `gamma_small` left at `found` from the bits `u`."""
    cdef double x
    if found > -1.5:        # the test of x with all digits
        if (u & 255) + uniform53(s) <= 256 * exp(found):
            return -found
    elif found > -2.5:
        x = 1 - log(uniform53(s))
        if log(uniform53(s)) <= (a - 1) * log(x):
            return <float>x
    return gamma_cell(s, a)
