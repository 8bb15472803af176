from libc.stdint cimport int32_t, uint32_t

cdef extern from "plugsamp/kernels/lanes.h" nogil:
    ctypedef struct lf:
        pass
    lf l_load(const float* p)
    void l_store(float* p, lf v)
    lf l_set(float x)
    lf l_from_int(const int32_t* p)
    lf l_add(lf a, lf b)
    lf l_sub(lf a, lf b)
    lf l_mul(lf a, lf b)
    lf l_div(lf a, lf b)
    lf l_max(lf a, lf b)
    lf l_min(lf a, lf b)
    lf l_exp(lf a)
    float l_sum(lf v)
    lf l_scan(lf v)
    float l_last(lf v)
    float l_top(lf v)
    int l_choose(const float* w, int stride, lf acc, float u)
    uint32_t l_above(lf v, float x)
    uint32_t l_below(lf v, float x)
    lf l_where_above(lf x, lf y, lf a, lf b)
    lf l_one_above(lf x, lf y)
    lf l_up_to(lf v, float x)
    int l_lowest(uint32_t m)
    void l_prefetch(const void* p)
    bint l_likely(bint x)
