"""Per-block random streams for compiled code.

xoshiro128++ (Blackman and Vigna 2021) in 16 interleaved lanes, so that any compiler vectorises the
refill; the lane count is part of the definition, so every instruction set gives the same numbers.
Everything is inline: a third party's `cimport` needs neither a header nor a library of ours.
"""
from libc.stdint cimport int32_t, uint32_t, uint64_t

cdef enum:
    LANES = 16
    BUFFER = 256

cdef struct Stream:
    uint32_t state[64]
    uint32_t buffer[256]
    int used


cdef inline uint64_t splitmix(uint64_t* x) noexcept nogil:
    x[0] += <uint64_t>0x9E3779B97F4A7C15
    cdef uint64_t y = x[0]
    y = (y ^ (y >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    y = (y ^ (y >> 27)) * <uint64_t>0x94D049BB133111EB
    return y ^ (y >> 31)


cdef inline void open_stream(Stream* s, uint64_t key) noexcept nogil:
    """Start the stream of `key` (see plugsamp.random.draws.stream_key)."""
    cdef int lane
    cdef uint64_t x = key, y
    for lane in range(LANES):
        y = splitmix(&x)
        s.state[lane] = <uint32_t>y
        s.state[LANES + lane] = <uint32_t>(y >> 32)
        y = splitmix(&x)
        s.state[2 * LANES + lane] = <uint32_t>y
        s.state[3 * LANES + lane] = <uint32_t>(y >> 32) | 1  # never the all-zero state
    s.used = BUFFER


cdef inline void refill(Stream* s) noexcept nogil:
    cdef uint32_t s0[16]
    cdef uint32_t s1[16]
    cdef uint32_t s2[16]
    cdef uint32_t s3[16]
    cdef uint32_t t, u
    cdef int lane, i
    for lane in range(LANES):
        s0[lane] = s.state[lane]
        s1[lane] = s.state[LANES + lane]
        s2[lane] = s.state[2 * LANES + lane]
        s3[lane] = s.state[3 * LANES + lane]
    for i in range(0, 256, 16):
        for lane in range(LANES):
            u = s0[lane] + s3[lane]
            s.buffer[i + lane] = ((u << 7) | (u >> 25)) + s0[lane]
            t = s1[lane] << 9
            s2[lane] ^= s0[lane]
            s3[lane] ^= s1[lane]
            s1[lane] ^= s2[lane]
            s0[lane] ^= s3[lane]
            s2[lane] ^= t
            s3[lane] = (s3[lane] << 11) | (s3[lane] >> 21)
    for lane in range(LANES):
        s.state[lane] = s0[lane]
        s.state[LANES + lane] = s1[lane]
        s.state[2 * LANES + lane] = s2[lane]
        s.state[3 * LANES + lane] = s3[lane]
    s.used = 0


cdef inline uint32_t bits(Stream* s) noexcept nogil:
    """32 random bits."""
    if s.used == BUFFER:
        refill(s)
    s.used += 1
    return s.buffer[s.used - 1]


cdef inline float uniform(Stream* s) noexcept nogil:
    """A float in (0, 1], of 24 bits; the least is 2^-25.

    From 1/2 on its half step is rounded to even, so that it has 23 bits there, and is 1 with probability
    2^-24: take it as the end of an interval, and clamp what is looked up with it.
    """
    return (<float><int32_t>(bits(s) >> 8) + <float>0.5) * <float>(1.0 / 16777216.0)


cdef inline uint32_t below(Stream* s, uint32_t n) noexcept nogil:
    """A whole number in [0, n); uneven by n / 2^32 at most."""
    return <uint32_t>((<uint64_t>bits(s) * n) >> 32)


cdef inline double uniform53(Stream* s) noexcept nogil:
    """A double in (0, 1], of 53 bits; the least is 2^-54, and it is 1 with probability 2^-53 (as `uniform`)."""
    cdef uint64_t high = bits(s)
    cdef uint64_t low = bits(s)
    return (<double>((high << 21) ^ (low >> 11)) + 0.5) * (1.0 / 9007199254740992.0)
