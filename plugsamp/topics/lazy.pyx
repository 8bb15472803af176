"""Φ without its small cells: a draw of the topics whose cost is that of the cells that matter.

At beta = .01 a gamma draw without tokens is above 3e-4 in 7 of 100 cells, and what the others hold together
is 2e-4 of a topic. So for each word the cells above tau are placed by geometric gaps and drawn from the gamma
above tau, those with tokens are drawn as ever, and no other cell is touched. The small ones are functions of
(key, word, topic): who asks for one computes it (`cells.pxd`), and it is the same whoever asks.

A topic's sum needs the sum of all its small cells, and that is drawn as one normal variate with the right
mean and variance. What is lost is the dependence between one small cell and its topic's sum: with tau =
1e-6 (2 V)^(1/2) the standard deviation of the first is a millionth of that of the second.
"""
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from plugsamp.kernels.lanes cimport *
from plugsamp.random.streams cimport BUFFER, Stream, open_stream, refill, uniform
from plugsamp.topics.cells cimport Block, Cells, lowest_bit, phi_at
from plugsamp.topics.gammas cimport exponentials, fast_log, gamma_cell, gamma_small

import numpy as np
from libc.math cimport exp, log


cdef enum:
    FEW = 4             # 24 bits a factor: their product stays above 1e-30


cdef int draw_many(float* drawn, Stream* values_of, Stream* stream, float a, float low) noexcept nogil:
    """Gamma(a) above tau = low^(1/a), as many as come out of 256 tries."""
    cdef int i, n = 0
    cdef float x, inverse = 1 / a, width = 1 + a * <float>0.36787944117144233 - low
    refill(values_of)
    gamma_small(drawn, values_of.buffer, BUFFER, inverse, low, width, 0)
    for i in range(BUFFER):
        x = drawn[i]
        if -2.5 < x <= 0:
            if x > -1.5:
                x = -x if (values_of.buffer[i] & 255) + uniform(stream) <= 256 * exp(x) else -3
            else:
                x = 1 - fast_log(uniform(stream))
                if fast_log(uniform(stream)) > (a - 1) * fast_log(x):
                    x = -3
        drawn[n] = x
        n += x > 0      # what is to be drawn anew makes room
    return n


cdef class LazyTopics:
    """The cells kept of one draw of Φ.

    They stand in arrays of the chain's arena; every process has a holder of its own, which `address` brings up
    to date.

    Parameters
    ----------
    arena : Arena
    beta : float32 (V,), 0 < beta < 1
    n_topics, stride : int
    tau : float
    seldom : float64 (V,)
        The probability that Gamma(beta_w) exceeds tau.
    mean : float64 (V,)
        Its mean given that it does not.
    """

    cdef Cells cells
    cdef int n_topics
    cdef const float[::1] beta
    cdef uint64_t[:, ::1] held
    cdef float[::1] values
    cdef int32_t[::1] sizes
    cdef float[::1] factor
    cdef uint64_t[::1] key              # what `begin` and `finish` were told, for all processes
    cdef float[::1] threshold
    cdef double[::1] gap, mean, low

    def __init__(self, arena, beta, n_topics, stride, tau, seldom, mean):
        n_words = len(beta)
        self.n_topics, self.beta = n_topics, beta
        self.held = arena.array("lazy.blocks", (n_words * (-(-n_topics // 64)), 2), np.uint64)
        # memory that is not touched costs nothing
        self.values = arena.array("lazy.values", n_words * stride + 16, np.float32, 0.25)
        self.sizes = arena.array("lazy.sizes", n_words, np.int32)
        self.factor = arena.array("lazy.factor", stride, np.float32)
        self.key = arena.array("lazy.key", 1, np.uint64)
        self.threshold = arena.array("lazy.threshold", 1, np.float32)
        self.gap = -1.0 / np.log1p(-np.asarray(seldom, float))
        self.mean = np.asarray(mean, float)
        self.low = float(tau) ** np.asarray(beta, float)
        self.cells.blocks = <Block*>&self.held[0, 0]
        self.cells.n_blocks = -(-n_topics // 64)
        self.cells.stride = stride
        self.cells.values = &self.values[0]
        self.cells.sizes = &self.sizes[0]
        self.cells.factor = &self.factor[0]
        self.cells.beta = &self.beta[0]
        self.cells.tau = tau
        self.cells.log_tau = log(tau)

    @property
    def address(self):
        """Of the `Cells`, for compiled code."""
        self.cells.key, self.cells.threshold = self.key[0], self.threshold[0]
        return <size_t>&self.cells

    def begin(self, key):
        """Open a draw: `key` is that of the cells that are not kept."""
        self.key[0] = key

    def draw(self, const uint16_t[::1] z, const int32_t[::1] order, const int64_t[::1] starts,
             Py_ssize_t first, Py_ssize_t last, double[::1] totals, uint64_t key):
        """Gamma draws of words first:last; their sums (K,), small cells by their mean, go to `totals`.

        Counts are made here, of the topics `z` of the tokens order[starts[w]:starts[w + 1]] of each word w.
        """
        cdef Stream gaps_of, values_of, small_of, stream
        cdef Cells* c = &self.cells
        cdef Block* blocks
        cdef Py_ssize_t w, t
        cdef uint64_t counted[1024]
        cdef uint64_t left, tokens
        cdef float gaps[256]
        cdef float drawn[256]
        cdef float small[256]
        cdef float product
        cdef int n_small = 0, here_small = 0
        cdef int32_t[::1] counts = np.zeros(self.n_topics, np.int32)
        cdef int k, b, j, n, i, position, n_topics = self.n_topics, n_blocks = c.n_blocks
        cdef int n_gaps = BUFFER, n_drawn = 0, here = 0
        cdef uint32_t used = <uint32_t>(first * c.stride)
        cdef double mean, all_means = 0
        cdef float x, a, low = 0, gap, last_a = -1
        cdef float* values
        cdef double* total = &totals[0]
        with nogil:
            open_stream(&gaps_of, key)
            open_stream(&values_of, key ^ <uint64_t>0xA5A5A5A5A5A5A5A5)
            open_stream(&small_of, key ^ <uint64_t>0x1D8E4E27C47D124F)
            open_stream(&stream, key ^ <uint64_t>0x5DEECE66D1CE4E5B)
            for w in range(first, last):
                all_means += self.mean[w]
            for k in range(n_topics):
                total[k] = all_means
            for w in range(first, last):
                a = self.beta[w]
                mean = self.mean[w]
                gap = <float>self.gap[w]
                if a != last_a:
                    last_a = a
                    low = <float>self.low[w]
                    n_small = here_small
                    n_drawn = here      # what is at hand is of another shape
                blocks = c.blocks + w * n_blocks
                memset(counted, 0, n_blocks * sizeof(uint64_t))
                for t in range(starts[w], starts[w + 1]):
                    k = z[order[t]]
                    counts[k] += 1
                    counted[k >> 6] |= <uint64_t>1 << (k & 63)
                for b in range(n_blocks):
                    blocks[b].listed = counted[b]
                position = -1       # cells above tau, whether they have tokens or not
                while True:
                    if n_gaps == BUFFER:
                        refill(&gaps_of)
                        exponentials(gaps, gaps_of.buffer, BUFFER)
                        n_gaps = 0
                    position += 1 + <int>(gaps[n_gaps] * gap)
                    n_gaps += 1
                    if position >= n_topics:
                        break
                    blocks[position >> 6].listed |= <uint64_t>1 << (position & 63)
                values = c.values + used
                i = 0
                for b in range(n_blocks):
                    blocks[b].first = used + <uint32_t>i
                    left = blocks[b].listed
                    tokens = counted[b]
                    while left:
                        j = lowest_bit(left)
                        k = 64 * b + j
                        left &= left - 1
                        if not tokens >> j & 1:
                            while here == n_drawn:
                                n_drawn = draw_many(drawn, &values_of, &stream, a, low)
                                here = 0
                            x = drawn[here]
                            here += 1
                        elif counts[k] <= FEW:      # a gamma of whole shape and one of shape beta
                            while here_small == n_small:
                                n_small = draw_many(small, &small_of, &stream, a, 0)
                                here_small = 0
                            product = uniform(&stream)
                            for n in range(1, counts[k]):
                                product *= uniform(&stream)
                            x = small[here_small] - fast_log(product)
                            here_small += 1
                            counts[k] = 0
                        else:
                            x = gamma_cell(&stream, counts[k] + <double>a)
                            counts[k] = 0
                        values[i] = x
                        total[k] += x - mean
                        i += 1
                c.sizes[w] = i
                while i & 15:
                    values[i] = 0
                    i += 1
                used += i

    def finish(self, factor, float threshold):
        """Take `factor` (stride,), what turns draws into phi, and the `threshold` of phi."""
        np.asarray(self.factor)[:] = factor
        self.threshold[0] = max(threshold, self.cells.tau * float(np.max(factor)))

    def scale(self, Py_ssize_t first, Py_ssize_t last):
        """Turn the draws of words first:last into phi."""
        cdef Cells* c = &self.cells
        cdef Py_ssize_t w
        cdef int b
        cdef uint64_t listed
        cdef float* value
        with nogil:
            for w in range(first, last):
                value = c.values + c.blocks[w * c.n_blocks].first
                for b in range(c.n_blocks):
                    listed = c.blocks[w * c.n_blocks + b].listed
                    while listed:
                        value[0] *= c.factor[64 * b + lowest_bit(listed)]
                        value += 1
                        listed &= listed - 1

    def keeps(self, Py_ssize_t w, int k):
        """Whether the cell of word w and topic k is kept; for tests."""
        return bool(self.cells.blocks[w * self.cells.n_blocks + (k >> 6)].listed >> (k & 63) & 1)

    def fill(self, float[:, ::1] phi):
        """All of Φ, (V, stride)."""
        cdef Py_ssize_t w
        cdef int k
        self.address  # brings the key up to date
        with nogil:
            for w in range(phi.shape[0]):
                for k in range(self.n_topics):
                    phi[w, k] = phi_at(&self.cells, w, k)
