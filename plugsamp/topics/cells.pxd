"""Topics Φ of which only the large cells are kept, as compiled code sees them (see lazy.pyx)."""
from libc.math cimport exp
from libc.stdint cimport int32_t, uint16_t, uint32_t, uint64_t

from plugsamp.random.streams cimport splitmix
from plugsamp.topics.gammas cimport fast_exp, fast_log

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define bit_count(x) __builtin_popcountll(x)
    #define lowest_bit(x) __builtin_ctzll(x)
    #else
    #include <intrin.h>
    #define bit_count(x) ((int)__popcnt64(x))
    static __inline int lowest_bit(unsigned long long x) { unsigned long i; _BitScanForward64(&i, x); return (int)i; }
    #endif
    """
    int bit_count(uint64_t x) nogil
    int lowest_bit(uint64_t x) nogil

cdef struct Block:
    uint64_t listed        # which of 64 topics are kept
    uint32_t first         # place of the first one's value
    uint32_t unused

cdef struct Cells:
    Block* blocks          # (V, n_blocks)
    int n_blocks
    int stride
    float* values          # of the cells kept, in order of topics, a word from a multiple of 16 on, then zeros
    int32_t* sizes         # (V,) cells kept
    const float* factor    # (stride,) what turns a gamma draw into phi
    const float* beta      # (V,)
    float tau              # every cell whose gamma draw is above it is kept
    float log_tau
    float threshold        # every cell with phi above it is kept, in any state of the chain
    uint64_t key


cdef inline float small_cell(const Cells* c, Py_ssize_t w, int k) noexcept nogil:
    """A cell that is not kept: Gamma(beta_w) given that it is tau at most, a function of key, word and topic."""
    cdef uint64_t state = c.key ^ (<uint64_t>(w * c.stride + k) * <uint64_t>0xD1342543DE82EF95), h
    cdef float x
    cdef double q
    while True:
        h = splitmix(&state)
        x = fast_log((<float><int32_t>(h >> 40) + <float>0.5) * <float>(1.0 / 16777216.0)) / c.beta[w]
        x = fast_exp(c.log_tau + x)
        q = <double><uint32_t>h * (1.0 / 4294967296.0)
        if q <= 1 - x or q <= exp(-x):
            return (x if x > <float>1e-30 else <float>1e-30) * c.factor[k]


cdef inline bint phi_kept(const Cells* c, Py_ssize_t w, int k, float* out) noexcept nogil:
    """Whether phi_kw is kept, and its value, or a bound of what it is."""
    cdef const Block* block = c.blocks + w * c.n_blocks + (k >> 6)
    cdef uint64_t bit = <uint64_t>1 << (k & 63)
    if block.listed & bit:
        out[0] = c.values[block.first + bit_count(block.listed & (bit - 1))]
        return True
    out[0] = <float>1.0001 * (c.tau if c.tau > <float>1e-30 else <float>1e-30) * c.factor[k]
    return False


cdef inline float phi_at(const Cells* c, Py_ssize_t w, int k) noexcept nogil:
    """phi_kw."""
    cdef float found
    return found if phi_kept(c, w, k, &found) else small_cell(c, w, k)


cdef inline int nth_topic(const Cells* c, Py_ssize_t w, uint32_t place) noexcept nogil:
    """The topic whose value is at `place`, one of the word's."""
    cdef const Block* block = c.blocks + w * c.n_blocks
    cdef int b = 0
    cdef uint64_t listed
    cdef uint32_t n
    while b + 1 < c.n_blocks and block[b + 1].first <= place:
        b += 1
    listed = block[b].listed
    for n in range(place - block[b].first):
        listed &= listed - 1
    return 64 * b + lowest_bit(listed)
