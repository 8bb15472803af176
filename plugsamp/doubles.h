/* Eight doubles at once, for sums over outputs: one AVX-512, two AVX or four SSE registers, or loops. */
#ifndef PLUGSAMP_DOUBLES_H
#define PLUGSAMP_DOUBLES_H
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"
#define D_INLINE static inline __attribute__((always_inline))
#define D_RESTRICT __restrict__
typedef double d8 __attribute__((vector_size(64)));
D_INLINE d8 d_load(const double *p) { d8 v; memcpy(&v, p, 64); return v; }
D_INLINE void d_store(double *p, d8 v) { memcpy(p, &v, 64); }
D_INLINE d8 d_set(double x) { return x - (d8){0}; }
D_INLINE d8 d_add(d8 a, d8 b) { return a + b; }
D_INLINE d8 d_sub(d8 a, d8 b) { return a - b; }
D_INLINE d8 d_mul(d8 a, d8 b) { return a * b; }
#else
#define D_INLINE static __inline
#define D_RESTRICT __restrict
typedef struct { double x[8]; } d8;
#define D_EACH for (int i = 0; i < 8; i++)
D_INLINE d8 d_load(const double *p) { d8 v; memcpy(&v, p, 64); return v; }
D_INLINE void d_store(double *p, d8 v) { memcpy(p, &v, 64); }
D_INLINE d8 d_set(double x) { d8 v; D_EACH v.x[i] = x; return v; }
D_INLINE d8 d_add(d8 a, d8 b) { D_EACH a.x[i] += b.x[i]; return a; }
D_INLINE d8 d_sub(d8 a, d8 b) { D_EACH a.x[i] -= b.x[i]; return a; }
D_INLINE d8 d_mul(d8 a, d8 b) { D_EACH a.x[i] *= b.x[i]; return a; }
#endif

/* sums[8 topics[p] + c] += scale[c] values[p] for p in [begin, end). */
D_INLINE void d_add_sparse(double *D_RESTRICT sums, d8 scale, const int32_t *D_RESTRICT topics,
                           const double *D_RESTRICT values, int64_t begin, int64_t end) {
  for (int64_t p = begin; p < end; p++) {
    double *D_RESTRICT row = sums + 8 * (int64_t)topics[p];
    d_store(row, d_add(d_load(row), d_mul(scale, d_set(values[p]))));
  }
}

/* sums[8 q + c] += scale[c] values[q] for q in [begin, end). */
D_INLINE void d_add_dense(double *D_RESTRICT sums, d8 scale, const double *D_RESTRICT values, int64_t begin,
                          int64_t end) {
  for (int64_t q = begin; q < end; q++)
    d_store(sums + 8 * q, d_add(d_load(sums + 8 * q), d_mul(scale, d_set(values[q]))));
}
#endif
