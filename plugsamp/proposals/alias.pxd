"""Alias tables (Walker 1977, built as Vose 1991): one cell a draw."""
from libc.stdint cimport uint16_t, uint32_t, uint64_t

cdef struct Cell:
    uint32_t coin      # below it: first, otherwise second
    uint16_t first
    uint16_t second


cdef inline int alias_draw(const Cell* cells, uint32_t n, uint32_t u) noexcept nogil:
    """A topic from 32 random bits: the upper part of n·u picks the cell, the lower part is the coin."""
    cdef uint64_t product = <uint64_t>u * n
    cdef const Cell* cell = cells + (product >> 32)
    # without a branch: the choice is as good as random
    cdef uint32_t second = <uint32_t>(<uint32_t>product >= cell.coin)
    return cell.first + (<int>cell.second - <int>cell.first) * <int>second


cdef inline void alias_build(Cell* cells, const float* mass, const uint16_t* topics, int n, double total,
                             int* work) noexcept nogil:
    """Fill n cells for the n masses (their sum is `total`); `work` has room for n ints.

    `topics` may be NULL: mass i is then topic i. Small and large entries are kept in one array, from
    both ends; what rounding leaves over keeps its own topic with certainty.
    """
    cdef int i, small = 0, large = n, s, l
    cdef double scale = n / total
    cdef double left
    # coin holds the running share in units of 2^-31 (shares of a large entry can pass 1)
    for i in range(n):
        cells[i].first = <uint16_t>i
        cells[i].second = <uint16_t>i
        cells[i].coin = <uint32_t>0xFFFFFFFF
    for i in range(n):
        if mass[i] * scale < 1:
            work[small] = i
            small += 1
        else:
            large -= 1
            work[large] = i
    if large < n and small > 0:
        l = n - 1
        s = 0
        left = mass[work[l]] * scale
        # Small entries in order of the array; a large one that falls below 1 is the next small one.
        while True:
            if s < small:
                i = work[s]
                s += 1
                cells[i].coin = <uint32_t>(mass[i] * scale * 4294967295.0)
                cells[i].second = <uint16_t>work[l]
                left -= 1 - mass[i] * scale
            else:
                break
            while left < 1:
                if l - 1 < large:
                    break
                i = work[l]
                cells[i].coin = <uint32_t>((left if left > 0 else 0) * 4294967295.0)
                l -= 1
                cells[i].second = <uint16_t>work[l]
                left = mass[work[l]] * scale - (1 - left)
    if topics != NULL:
        for i in range(n):
            cells[i].first = topics[cells[i].first]
            cells[i].second = topics[cells[i].second]
