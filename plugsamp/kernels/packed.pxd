from libc.stdint cimport uint8_t, uint32_t

from plugsamp.kernels.lanes cimport lf

cdef extern from "plugsamp/kernels/packed.h" nogil:
    ctypedef struct p_word:
        uint32_t at
        int size
        float beta
        uint8_t wide
        uint8_t row
        uint8_t may_row
        uint8_t must_row
    lf p_weigh(const p_word* word, const void* cells, int bits, int own, const float* coefficient,
               float* w, int* place, int* n)
    int p_choose(const float* w, int size, lf scan, float target)
    int p_topic(const p_word* word, const void* cells, int bits, int cell)
    void p_put(p_word* word, void* cells, int bits, int topic, int cell)
    void p_take(p_word* word, void* cells, int bits, int pad, int cell)
    void p_sort(p_word* word, void* cells)
    void p_unpack(const p_word* word, const void* cells, int bits, uint32_t* counts)
    void p_pack(p_word* word, void* cells, int bits, int pad, int stride, const uint32_t* counts, int row)
