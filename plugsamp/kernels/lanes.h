/* Sixteen float lanes: one AVX-512, two AVX or four SSE registers, or plain loops.
 *
 * Only what the token kernels need. Compilers with vector types (GCC, Clang) map every function to
 * a few instructions of the instruction set that the file is compiled for; others get loops.
 * The lanes are a struct of vectors as wide as a register: GCC keeps wider ones in memory. */
#ifndef PLUGSAMP_LANES_H
#define PLUGSAMP_LANES_H
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#if defined(__SSE2__)
#include <immintrin.h>
#endif
#define L_INLINE static inline __attribute__((always_inline))
#define L_RESTRICT __restrict__
/* GCC takes a function that only fetches for one without effect, and drops calls of it: the empty statement is an effect. */
static inline void l_prefetch(const void *p) { __builtin_prefetch(p, 0, 3); __asm__ volatile(""); }
#define l_likely(x) __builtin_expect(!!(x), 1)

/* V_EACH(S) does S(part, first lane) for every part. */
#if defined(__AVX512F__)
#define V_WIDTH 16
typedef float vf __attribute__((vector_size(64)));
typedef int32_t vi __attribute__((vector_size(64)));
typedef struct { vf a; } lf;
#define V_EACH(S) S(a, 0)
#elif defined(__AVX__)
#define V_WIDTH 8
typedef float vf __attribute__((vector_size(32)));
typedef int32_t vi __attribute__((vector_size(32)));
typedef struct { vf a, b; } lf;
#define V_EACH(S) S(a, 0) S(b, 8)
#else
#define V_WIDTH 4
typedef float vf __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(16)));
typedef struct { vf a, b, c, d; } lf;
#define V_EACH(S) S(a, 0) S(b, 4) S(c, 8) S(d, 12)
#endif
#if defined(__clang__)
#define V_SHUFFLE(x, y, ...) __builtin_shufflevector((x), (y), __VA_ARGS__)
#else
#define V_SHUFFLE(x, y, ...) __builtin_shuffle((x), (y), (vi){__VA_ARGS__})
#endif

/* Of a part. (Comparisons of vectors as such are taken apart by some compilers.) */
L_INLINE vf v_load(const float *p) { vf v; memcpy(&v, p, sizeof v); return v; }
L_INLINE void v_store(float *p, vf v) { memcpy(p, &v, sizeof v); }
L_INLINE vf v_set(float x) { return x - (vf){0}; }
#if defined(__AVX512F__)
L_INLINE vf v_max(vf x, vf y) { return (vf)_mm512_max_ps((__m512)x, (__m512)y); }
L_INLINE vf v_min(vf x, vf y) { return (vf)_mm512_min_ps((__m512)x, (__m512)y); }
#define V_ABOVE(x, y) _mm512_cmp_ps_mask((__m512)(x), (__m512)(y), _CMP_GT_OQ)
L_INLINE uint32_t v_above(vf x, vf y) { return V_ABOVE(x, y); }
L_INLINE vf v_where_above(vf x, vf y, vf a, vf b) { return (vf)_mm512_mask_blend_ps(V_ABOVE(x, y), (__m512)b, (__m512)a); }
L_INLINE vf v_one_above(vf x, vf y) { return (vf)_mm512_maskz_mov_ps(V_ABOVE(x, y), (__m512)v_set(1.0f)); }
#elif defined(__AVX__)
L_INLINE vf v_max(vf x, vf y) { return (vf)_mm256_max_ps((__m256)x, (__m256)y); }
L_INLINE vf v_min(vf x, vf y) { return (vf)_mm256_min_ps((__m256)x, (__m256)y); }
#define V_ABOVE(x, y) _mm256_cmp_ps((__m256)(x), (__m256)(y), _CMP_GT_OQ)
L_INLINE uint32_t v_above(vf x, vf y) { return (uint32_t)_mm256_movemask_ps(V_ABOVE(x, y)); }
L_INLINE vf v_where_above(vf x, vf y, vf a, vf b) { return (vf)_mm256_blendv_ps((__m256)b, (__m256)a, V_ABOVE(x, y)); }
L_INLINE vf v_one_above(vf x, vf y) { return (vf)_mm256_and_ps(V_ABOVE(x, y), (__m256)v_set(1.0f)); }
#else
L_INLINE vf v_where_above(vf x, vf y, vf a, vf b) { vi m = x > y; return (vf)(((vi)a & m) | ((vi)b & ~m)); }
L_INLINE vf v_max(vf x, vf y) { return v_where_above(x, y, x, y); }
L_INLINE vf v_min(vf x, vf y) { return v_where_above(y, x, x, y); }
L_INLINE vf v_one_above(vf x, vf y) { return (vf)((vi)(x > y) & (vi)v_set(1.0f)); }
#if defined(__SSE2__)
L_INLINE uint32_t v_above(vf x, vf y) { return (uint32_t)_mm_movemask_ps(_mm_cmpgt_ps((__m128)x, (__m128)y)); }
#else
L_INLINE uint32_t v_above(vf x, vf y) {
  uint32_t m = 0;
  for (int i = 0; i < V_WIDTH; i++) m |= (uint32_t)(x[i] > y[i]) << i;
  return m;
}
#endif
#endif
/* exp, relative error below 2e-7; arguments are clamped to [-87, 88], so that 2^n is normal in x = n ln 2 + r. */
L_INLINE vf v_exp(vf x) {
  vf power, m, y;
  vi n;
  x = v_max(v_min(x, v_set(88.0f)), v_set(-87.0f));
  n = __builtin_convertvector(x * v_set(1.44269504f) + v_set(127.5f), vi);
  m = __builtin_convertvector(n - 127, vf);
  n = n << 23;
  memcpy(&power, &n, sizeof n);
  x = (x - m * v_set(0.693359375f)) - m * v_set(-2.12194440e-4f);
  y = v_set(1.9875691500e-4f);
  y = y * x + v_set(1.3981999507e-3f);
  y = y * x + v_set(8.3334519073e-3f);
  y = y * x + v_set(4.1665795894e-2f);
  y = y * x + v_set(1.6666665459e-1f);
  y = y * x + v_set(5.0000001201e-1f);
  y = y * x * x + (x + v_set(1.0f));
  return y * power;
}

#define S(p, at) v.p = v_load(x + at);
L_INLINE lf l_load(const float *x) { lf v; V_EACH(S) return v; }
#undef S
/* A value as it is: compilers, which may regroup sums and products, do not look behind it. */
#if defined(__SSE2__)
#define S(p, at) __asm__("" : "+x"(v.p));
#elif defined(__aarch64__)
#define S(p, at) __asm__("" : "+w"(v.p));
#else
#define S(p, at)
#endif
L_INLINE lf l_as_is(lf v) { V_EACH(S) return v; }
#undef S
#define S(p, at) v_store(x + at, v.p);
L_INLINE void l_store(float *x, lf v) { V_EACH(S) }
#undef S
#define S(p, at) v.p = v_set(x);
L_INLINE lf l_set(float x) { lf v; V_EACH(S) return v; }
#undef S
#define S(p, at) memcpy(&part, x + at, sizeof part); v.p = __builtin_convertvector(part, vf);
L_INLINE lf l_from_int(const int32_t *x) { lf v; vi part; V_EACH(S) return v; }
#undef S
#define S(p, at) x.p = x.p + y.p;
L_INLINE lf l_add(lf x, lf y) { V_EACH(S) return x; }
#undef S
#define S(p, at) x.p = x.p - y.p;
L_INLINE lf l_sub(lf x, lf y) { V_EACH(S) return x; }
#undef S
#define S(p, at) x.p = x.p * y.p;
L_INLINE lf l_mul(lf x, lf y) { V_EACH(S) return x; }
#undef S
#define S(p, at) x.p = x.p / y.p;
L_INLINE lf l_div(lf x, lf y) { V_EACH(S) return x; }
#undef S
#define S(p, at) x.p = v_max(x.p, y.p);
L_INLINE lf l_max(lf x, lf y) { V_EACH(S) return x; }
#undef S
#define S(p, at) x.p = v_min(x.p, y.p);
L_INLINE lf l_min(lf x, lf y) { V_EACH(S) return x; }
#undef S
#define S(p, at) x.p = v_exp(x.p);
L_INLINE lf l_exp(lf x) { V_EACH(S) return x; }
#undef S
/* a where x > y, otherwise b. */
#define S(p, at) x.p = v_where_above(x.p, y.p, a.p, b.p);
L_INLINE lf l_where_above(lf x, lf y, lf a, lf b) { V_EACH(S) return x; }
#undef S
/* 1 where x > y, otherwise 0. */
#define S(p, at) x.p = v_one_above(x.p, y.p);
L_INLINE lf l_one_above(lf x, lf y) { V_EACH(S) return x; }
#undef S
/* A bit for each lane that is above x. */
#define S(p, at) m |= v_above(v.p, limit) << at;
L_INLINE uint32_t l_above(lf v, float x) { uint32_t m = 0; vf limit = v_set(x); V_EACH(S) return m; }
#undef S
/* The lanes up to x, 0 for the others. */
L_INLINE lf l_up_to(lf v, float x) { return l_where_above(v, l_set(x), l_set(0), v); }
#define l_lowest(m) __builtin_ctz(m)

/* Sum and largest of the lanes: 16 to 8 to 4 to 2, in the same order whatever the width. */
#if V_WIDTH == 16
#define V_FOLD(v, OP) \
  vf s = v.a; \
  s = OP(s, V_SHUFFLE(s, s, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)); \
  s = OP(s, V_SHUFFLE(s, s, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11)); \
  s = OP(s, V_SHUFFLE(s, s, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13))
#elif V_WIDTH == 8
#define V_FOLD(v, OP) \
  vf s = OP(v.a, v.b); \
  s = OP(s, V_SHUFFLE(s, s, 4, 5, 6, 7, 0, 1, 2, 3)); \
  s = OP(s, V_SHUFFLE(s, s, 2, 3, 0, 1, 6, 7, 4, 5))
#else
#define V_FOLD(v, OP) \
  vf s = OP(OP(v.a, v.c), OP(v.b, v.d)); \
  s = OP(s, V_SHUFFLE(s, s, 2, 3, 0, 1))
#endif
#define V_ADD(x, y) ((x) + (y))
L_INLINE float l_sum(lf v) { V_FOLD(v, V_ADD); return s[0] + s[1]; }
L_INLINE float l_top(lf v) { V_FOLD(v, v_max); return s[0] > s[1] ? s[0] : s[1]; }

/* Running sums of the lanes: four steps of shift and add. */
L_INLINE lf l_scan(lf v) {
  const vf zero = {0};
#if V_WIDTH == 16
  v.a += V_SHUFFLE(zero, v.a, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
  v.a += V_SHUFFLE(zero, v.a, 0, 1, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
  v.a += V_SHUFFLE(zero, v.a, 0, 1, 2, 3, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27);
  v.a += V_SHUFFLE(zero, v.a, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
#elif V_WIDTH == 8
#define V_SHIFT(...) v.b += V_SHUFFLE(v.a, v.b, __VA_ARGS__); v.a += V_SHUFFLE(zero, v.a, __VA_ARGS__)
  V_SHIFT(7, 8, 9, 10, 11, 12, 13, 14);
  V_SHIFT(6, 7, 8, 9, 10, 11, 12, 13);
  V_SHIFT(4, 5, 6, 7, 8, 9, 10, 11);
  v.b += v.a;
#else
#define V_SHIFT(...) \
  v.d += V_SHUFFLE(v.c, v.d, __VA_ARGS__); v.c += V_SHUFFLE(v.b, v.c, __VA_ARGS__); \
  v.b += V_SHUFFLE(v.a, v.b, __VA_ARGS__); v.a += V_SHUFFLE(zero, v.a, __VA_ARGS__)
  V_SHIFT(3, 4, 5, 6);
  V_SHIFT(2, 3, 4, 5);
  v.d += v.c; v.c += v.b; v.b += v.a;
  v.d += v.b; v.c += v.a;
#endif
  return v;
}
#if V_WIDTH == 16
L_INLINE float l_last(lf v) { return v.a[15]; }
#elif V_WIDTH == 8
L_INLINE float l_last(lf v) { return v.b[7]; }
#else
L_INLINE float l_last(lf v) { return v.d[3]; }
#endif
/* How many lanes are <= x, of lanes that are numbers. */
L_INLINE int l_count_le(lf v, float x) { return 16 - __builtin_popcount(l_above(v, x)); }
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
L_INLINE lf l_as_is(lf v) { return v; }
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
#endif

#define l_below(v, x) l_above(l_sub(l_set(0), (v)), -(x))

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
