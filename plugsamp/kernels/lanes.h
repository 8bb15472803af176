/* Sixteen float lanes: one AVX-512, two AVX or four SSE registers, or plain loops.
 *
 * Only what the token kernels need. Compilers with vector types (GCC, Clang) map every function to
 * a few instructions of the instruction set that the file is compiled for; others get loops. */
#ifndef PLUGSAMP_LANES_H
#define PLUGSAMP_LANES_H
#include <stdint.h>
#include <string.h>

#define L_WIDTH 16

#if defined(__GNUC__)
#if defined(__AVX__)
#include <immintrin.h>
#endif
#define L_INLINE static inline __attribute__((always_inline))
#define L_RESTRICT __restrict__
#define l_prefetch(p) __builtin_prefetch((const void *)(p), 0, 3)
#define l_likely(x) __builtin_expect(!!(x), 1)

typedef float lf __attribute__((vector_size(64)));
typedef int32_t li __attribute__((vector_size(64)));

L_INLINE lf l_load(const float *p) { lf v; memcpy(&v, p, 64); return v; }
L_INLINE void l_store(float *p, lf v) { memcpy(p, &v, 64); }
L_INLINE lf l_set(float x) { return x - (lf){0}; }
L_INLINE lf l_from_int(const int32_t *p) { li v; memcpy(&v, p, 64); return __builtin_convertvector(v, lf); }
L_INLINE lf l_add(lf a, lf b) { return a + b; }
L_INLINE lf l_sub(lf a, lf b) { return a - b; }
L_INLINE lf l_mul(lf a, lf b) { return a * b; }
L_INLINE lf l_div(lf a, lf b) { return a / b; }
L_INLINE lf l_pick(li m, lf a, lf b) { return (lf)(((li)a & m) | ((li)b & ~m)); }
#if defined(__AVX512F__)
L_INLINE lf l_max(lf a, lf b) { return (lf)_mm512_max_ps((__m512)a, (__m512)b); }
L_INLINE lf l_min(lf a, lf b) { return (lf)_mm512_min_ps((__m512)a, (__m512)b); }
#elif defined(__AVX__)
typedef union { lf v; __m256 h[2]; } l_halves;
#define L_HALVES(op) \
  l_halves x = {a}, y = {b}; x.h[0] = op(x.h[0], y.h[0]); x.h[1] = op(x.h[1], y.h[1]); return x.v
L_INLINE lf l_max(lf a, lf b) { L_HALVES(_mm256_max_ps); }
L_INLINE lf l_min(lf a, lf b) { L_HALVES(_mm256_min_ps); }
#else
L_INLINE lf l_max(lf a, lf b) { return l_pick(a > b, a, b); }
L_INLINE lf l_min(lf a, lf b) { return l_pick(a < b, a, b); }
#endif
#define L_SHUFFLE(v, ...) __builtin_shuffle((v), (li){__VA_ARGS__})
#if defined(__clang__)
#undef L_SHUFFLE
#define L_SHUFFLE(v, ...) __builtin_shufflevector((v), (v), __VA_ARGS__)
#endif
L_INLINE float l_sum(lf v) {
  v += L_SHUFFLE(v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  v += L_SHUFFLE(v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
  v += L_SHUFFLE(v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
  return v[0] + v[1];
}
L_INLINE float l_top(lf v) {
  v = l_max(v, L_SHUFFLE(v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  v = l_max(v, L_SHUFFLE(v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
  v = l_max(v, L_SHUFFLE(v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
  return v[0] > v[1] ? v[0] : v[1];
}
/* Running sums of the lanes: four steps of shift and add. */
L_INLINE lf l_scan(lf v) {
  const lf zero = {0};
#if defined(__clang__)
#define L_SHIFT(v, ...) __builtin_shufflevector((zero), (v), __VA_ARGS__)
#else
#define L_SHIFT(v, ...) __builtin_shuffle((zero), (v), (li){__VA_ARGS__})
#endif
  v += L_SHIFT(v, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
  v += L_SHIFT(v, 0, 1, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
  v += L_SHIFT(v, 0, 1, 2, 3, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27);
  v += L_SHIFT(v, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
  return v;
}
L_INLINE float l_last(lf v) { return v[15]; }
/* How many lanes are <= x. */
#if defined(__AVX512F__)
L_INLINE int l_count_le(lf v, float x) {
  return __builtin_popcount(_mm512_cmp_ps_mask((__m512)v, _mm512_set1_ps(x), _CMP_LE_OQ));
}
#else
L_INLINE int l_count_le(lf v, float x) {
  li m = v <= l_set(x);
  m += L_SHUFFLE(m, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  m += L_SHUFFLE(m, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
  m += L_SHUFFLE(m, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
  return -(m[0] + m[1]);
}
#endif
/* a where x > y, otherwise b. (Comparisons of vectors as such are taken apart by some compilers.) */
#if defined(__AVX512F__)
L_INLINE lf l_where_above(lf x, lf y, lf a, lf b) {
  return (lf)_mm512_mask_blend_ps(_mm512_cmp_ps_mask((__m512)x, (__m512)y, _CMP_GT_OQ), (__m512)b, (__m512)a);
}
#elif defined(__AVX__)
L_INLINE lf l_where_above(lf x, lf y, lf a, lf b) {
  l_halves s = {x}, t = {y}, v = {a}, w = {b};
  for (int i = 0; i < 2; i++)
    w.h[i] = _mm256_blendv_ps(w.h[i], v.h[i], _mm256_cmp_ps(s.h[i], t.h[i], _CMP_GT_OQ));
  return w.v;
}
#else
L_INLINE lf l_where_above(lf x, lf y, lf a, lf b) { return l_pick(x > y, a, b); }
#endif
/* 1 where x > y, otherwise 0. */
#if defined(__AVX512F__)
L_INLINE lf l_one_above(lf x, lf y) {
  return (lf)_mm512_maskz_mov_ps(_mm512_cmp_ps_mask((__m512)x, (__m512)y, _CMP_GT_OQ), (__m512)l_set(1.0f));
}
#elif defined(__AVX__)
L_INLINE lf l_one_above(lf x, lf y) {
  l_halves s = {x}, t = {y}, v;
  for (int i = 0; i < 2; i++)
    v.h[i] = _mm256_and_ps(_mm256_cmp_ps(s.h[i], t.h[i], _CMP_GT_OQ), _mm256_set1_ps(1.0f));
  return v.v;
}
#else
L_INLINE lf l_one_above(lf x, lf y) { return (lf)((li)(x > y) & (li)l_set(1.0f)); }
#endif
/* A bit for each lane that is above x. */
#if defined(__AVX512F__)
L_INLINE uint32_t l_above(lf v, float x) { return _mm512_cmp_ps_mask((__m512)v, _mm512_set1_ps(x), _CMP_GT_OQ); }
#elif defined(__AVX__)
L_INLINE uint32_t l_above(lf v, float x) {
  l_halves y = {v};
  __m256 limit = _mm256_set1_ps(x);
  return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(y.h[0], limit, _CMP_GT_OQ)) |
         (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(y.h[1], limit, _CMP_GT_OQ)) << 8;
}
#else
L_INLINE uint32_t l_above(lf v, float x) {
  uint32_t m = 0;
  for (int i = 0; i < 16; i++) m |= (uint32_t)(v[i] > x) << i;
  return m;
}
#endif
#define l_lowest(m) __builtin_ctz(m)
/* The lanes up to x, 0 for the others. */
L_INLINE lf l_up_to(lf v, float x) { return l_where_above(v, l_set(x), l_set(0), v); }
L_INLINE lf l_round_parts(lf x, lf *power) {
  /* x = n ln 2 + r: returns r, *power = 2^n. Arguments are clamped so that 2^n is normal. */
  lf t = x * l_set(1.44269504f) + l_set(127.5f);
  li n = __builtin_convertvector(t, li);
  lf m = __builtin_convertvector(n - 127, lf);
  li bits = n << 23;
  memcpy(power, &bits, 64);
  return (x - m * l_set(0.693359375f)) - m * l_set(-2.12194440e-4f);
}
#else
#define L_INLINE static __inline
#define L_RESTRICT __restrict
#define l_prefetch(p) ((void)0)
#define l_likely(x) (x)
#include <intrin.h>
#include <math.h>

typedef struct { float x[16]; } lf;
#define L_EACH for (int i = 0; i < 16; i++)
L_INLINE lf l_load(const float *p) { lf v; memcpy(&v, p, 64); return v; }
L_INLINE void l_store(float *p, lf v) { memcpy(p, &v, 64); }
L_INLINE lf l_set(float x) { lf v; L_EACH v.x[i] = x; return v; }
L_INLINE lf l_from_int(const int32_t *p) { lf v; L_EACH v.x[i] = (float)p[i]; return v; }
L_INLINE lf l_add(lf a, lf b) { L_EACH a.x[i] += b.x[i]; return a; }
L_INLINE lf l_sub(lf a, lf b) { L_EACH a.x[i] -= b.x[i]; return a; }
L_INLINE lf l_mul(lf a, lf b) { L_EACH a.x[i] *= b.x[i]; return a; }
L_INLINE lf l_div(lf a, lf b) { L_EACH a.x[i] /= b.x[i]; return a; }
L_INLINE lf l_max(lf a, lf b) { L_EACH a.x[i] = a.x[i] > b.x[i] ? a.x[i] : b.x[i]; return a; }
L_INLINE lf l_min(lf a, lf b) { L_EACH a.x[i] = a.x[i] < b.x[i] ? a.x[i] : b.x[i]; return a; }
L_INLINE float l_sum(lf v) { float s = 0; L_EACH s += v.x[i]; return s; }
L_INLINE float l_top(lf v) { float s = v.x[0]; L_EACH s = v.x[i] > s ? v.x[i] : s; return s; }
L_INLINE lf l_scan(lf v) { for (int i = 1; i < 16; i++) v.x[i] += v.x[i - 1]; return v; }
L_INLINE float l_last(lf v) { return v.x[15]; }
L_INLINE int l_count_le(lf v, float x) { int n = 0; L_EACH n += v.x[i] <= x; return n; }
L_INLINE uint32_t l_above(lf v, float x) {
  uint32_t m = 0;
  L_EACH m |= (uint32_t)(v.x[i] > x) << i;
  return m;
}
L_INLINE lf l_where_above(lf x, lf y, lf a, lf b) { L_EACH a.x[i] = x.x[i] > y.x[i] ? a.x[i] : b.x[i]; return a; }
L_INLINE lf l_one_above(lf x, lf y) { L_EACH x.x[i] = x.x[i] > y.x[i] ? 1.0f : 0.0f; return x; }
L_INLINE lf l_up_to(lf v, float x) { L_EACH v.x[i] = v.x[i] <= x ? v.x[i] : 0; return v; }
L_INLINE int l_lowest(uint32_t m) { unsigned long i; _BitScanForward(&i, m); return (int)i; }
L_INLINE lf l_round_parts(lf x, lf *power) {
  lf r;
  L_EACH {
    int32_t n = (int32_t)(x.x[i] * 1.44269504f + 127.5f);
    float m = (float)(n - 127);
    int32_t bits = n << 23;
    memcpy(&power->x[i], &bits, 4);
    r.x[i] = (x.x[i] - m * 0.693359375f) - m * -2.12194440e-4f;
  }
  return r;
}
#endif

#define l_below(v, x) l_above(l_sub(l_set(0), (v)), -(x))

/* exp of 16 floats, relative error below 2e-7; arguments are clamped to [-87, 88]. */
L_INLINE lf l_exp(lf x) {
  lf power;
  x = l_max(l_min(x, l_set(88.0f)), l_set(-87.0f));
  x = l_round_parts(x, &power);
  lf y = l_set(1.9875691500e-4f);
  y = l_add(l_mul(y, x), l_set(1.3981999507e-3f));
  y = l_add(l_mul(y, x), l_set(8.3334519073e-3f));
  y = l_add(l_mul(y, x), l_set(4.1665795894e-2f));
  y = l_add(l_mul(y, x), l_set(1.6666665459e-1f));
  y = l_add(l_mul(y, x), l_set(5.0000001201e-1f));
  y = l_add(l_mul(l_mul(y, x), x), l_add(x, l_set(1.0f)));
  return l_mul(y, power);
}

/* The index at which the running sum of w[0:stride] passes u * total, 0 < u < 1, where acc holds the
 * lane sums: a lane first, then down its groups. Never an index of weight 0, rounding included. */
L_INLINE int l_choose(const float *L_RESTRICT w, int stride, lf acc, float u) {
  float sums[16], target, here;
  int lane, k, last = -1;
  lf scan = l_scan(acc);
  l_store(sums, scan);
  target = u * sums[15];
  lane = l_count_le(scan, target);
  if (lane > 15) lane = 15;
  if (lane > 0) target -= sums[lane - 1];
  for (k = lane; k < stride; k += 16) {
    here = w[k];
    if (here > 0.0f) {
      last = k;
      if (target < here) return k;
      target -= here;
    }
  }
  if (last >= 0) return last;
  for (k = 0; k < stride; k++) /* the lane was empty: rounding put the target past the last sum */
    if (w[k] > 0.0f) last = k;
  return last;
}
#endif
