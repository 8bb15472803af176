"""The part of a document that is worked on: its tokens of some words, which stand sorted."""
from libc.stdint cimport int32_t


cdef inline Py_ssize_t first_at_least(const int32_t* words, Py_ssize_t begin, Py_ssize_t end, int32_t word) noexcept nogil:
    """Where the first of the sorted words[begin:end] stands that is `word` or more."""
    cdef Py_ssize_t middle
    if begin == end or words[begin] >= word:
        return begin
    while begin < end:
        middle = (begin + end) // 2
        if words[middle] < word:
            begin = middle + 1
        else:
            end = middle
    return begin
