/* Gamma draws in bulk, by loops that compilers vectorise. */
#ifndef PLUGSAMP_GAMMA_H
#define PLUGSAMP_GAMMA_H
#include "plugsamp/kernels/lanes.h"

/* log of a positive normal float, absolute error below 2e-7 around 1. */
static inline float fast_log(float x) {
  int32_t i, e;
  float m, y, z;
  memcpy(&i, &x, 4);
  e = (i - 0x3f3504f3) >> 23;
  i -= e << 23;
  memcpy(&m, &i, 4);
  m -= 1.0f;
  z = m * m;
  y = 7.0376836292e-2f;
  y = y * m - 1.1514610310e-1f;
  y = y * m + 1.1676998740e-1f;
  y = y * m - 1.2420140846e-1f;
  y = y * m + 1.4249322787e-1f;
  y = y * m - 1.6668057665e-1f;
  y = y * m + 2.0000714765e-1f;
  y = y * m - 2.4999993993e-1f;
  y = y * m + 3.3333331174e-1f;
  y = y * m * z - 0.5f * z + (float)e * -2.12194440e-4f;
  return m + y + (float)e * 0.693359375f;
}
static inline float fast_exp(float x) {
  int32_t n;
  float m, y, p;
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  n = (int32_t)(x * 1.44269504f + 127.5f);
  m = (float)(n - 127);
  x = (x - m * 0.693359375f) - m * -2.12194440e-4f;
  y = 1.9875691500e-4f;
  y = y * x + 1.3981999507e-3f;
  y = y * x + 8.3334519073e-3f;
  y = y * x + 4.1665795894e-2f;
  y = y * x + 1.6666665459e-1f;
  y = y * x + 5.0000001201e-1f;
  y = y * x * x + x + 1.0f;
  n <<= 23;
  memcpy(&p, &n, 4);
  return y * p;
}
/* A float in (0, 1] from the upper 24 bits, 1 with probability 2^-24 (`uniform` of streams.pxd). */
static inline float upper(uint32_t u) { return ((float)(int32_t)(u >> 8) + 0.5f) * (1.0f / 16777216.0f); }

/* GS (Ahrens and Dieter 1974) for n cells of shape a < 1: x = p^(1/a) with p uniform on (low, high), a part
 * of (0, 1 + a/e); x <= 1 is kept with probability exp(-x). The lower 8 bits of u are the leading digits of
 * the uniform that decides: where exp(-x) is not among the numbers that begin so, all is clear, otherwise the cell gets -x, to be
 * tested again with the digits that follow. Where p > 1, the tail, it gets -2; where it is clear that x is
 * to be drawn anew, -3. What is below `floor` is set
 * to it. Relative error of x below 3e-7 / a. */
static inline float gamma_small_one(uint32_t u, float inverse_a, float low, float width, float floor) {
  float p = low + width * upper(u);
  float q = ((float)(int32_t)(u & 255u) + 1.0f) * (1.0f / 256.0f);
  float x = fast_exp(fast_log(p) * inverse_a);
  if (p > 1.0f) return -2.0f;
  if (q > fast_exp(-x) && x > 6e-8f) return q - 1.0f / 256.0f > fast_exp(-x) ? -3.0f : -x;
  return x < floor ? floor : x;
}
#if defined(__GNUC__)
L_INLINE vf v_log(vf x) {
  vi i, e;
  memcpy(&i, &x, sizeof i);
  e = (i - 0x3f3504f3) >> 23;
  i -= e << 23;
  vf m, y, z, n = __builtin_convertvector(e, vf);
  memcpy(&m, &i, sizeof i);
  m -= v_set(1.0f);
  z = m * m;
  y = v_set(7.0376836292e-2f);
  y = y * m - v_set(1.1514610310e-1f);
  y = y * m + v_set(1.1676998740e-1f);
  y = y * m - v_set(1.2420140846e-1f);
  y = y * m + v_set(1.4249322787e-1f);
  y = y * m - v_set(1.6668057665e-1f);
  y = y * m + v_set(2.0000714765e-1f);
  y = y * m - v_set(2.4999993993e-1f);
  y = y * m + v_set(3.3333331174e-1f);
  y = y * m * z - v_set(0.5f) * z + n * v_set(-2.12194440e-4f);
  return m + y + n * v_set(0.693359375f);
}
/* -log of n uniforms, n a multiple of 16. */
static inline void exponentials(float *__restrict out, const uint32_t *__restrict u, int n) {
  for (int i = 0; i < n; i += V_WIDTH) {
    vi bits;
    memcpy(&bits, u + i, sizeof bits);
    bits = (bits >> 8) & 0xFFFFFF;
    vf p = (__builtin_convertvector(bits, vf) + v_set(0.5f)) * v_set(1.0f / 16777216.0f);
    v_store(out + i, -v_log(p));
  }
}
static inline void gamma_small(float *__restrict out, const uint32_t *__restrict u, int n, float inverse_a,
                               float low, float width, float floor) {
  int i;
  for (i = 0; i < n / 16 * 16; i += V_WIDTH) {
    vi bits, top;
    memcpy(&bits, u + i, sizeof bits);
    top = (bits >> 8) & 0xFFFFFF;
    vf p = v_set(low) + v_set(width) * ((__builtin_convertvector(top, vf) + v_set(0.5f)) * v_set(1.0f / 16777216.0f));
    vf q = (__builtin_convertvector(bits & 255, vf) + v_set(1.0f)) * v_set(1.0f / 256.0f);
    vf x = v_exp(v_log(p) * v_set(inverse_a));
    vf keep = v_exp(-v_max(x, v_set(1e-9f))); /* no denormal numbers on the way */
    vf y = v_max(x, v_set(floor));
    vf again = v_where_above(q - v_set(1.0f / 256.0f), keep, v_set(-3.0f), -x);
    again = v_where_above(x, v_set(6e-8f), again, y);
    y = v_where_above(q, keep, again, y);
    v_store(out + i, v_where_above(p, v_set(1.0f), v_set(-2.0f), y));
  }
  for (; i < n; i++) out[i] = gamma_small_one(u[i], inverse_a, low, width, floor);
}
#else
static inline void exponentials(float *__restrict out, const uint32_t *__restrict u, int n) {
  for (int i = 0; i < n; i++) out[i] = -fast_log(upper(u[i]));
}
static inline void gamma_small(float *__restrict out, const uint32_t *__restrict u, int n, float inverse_a,
                               float low, float width, float floor) {
  for (int i = 0; i < n; i++) out[i] = gamma_small_one(u[i], inverse_a, low, width, floor);
}
#endif
#endif
