/* The topics of a word, as SparseLDA scans them: what one token's draw reads of its word.
 *
 * Two shapes, in 16 or 32 bits a cell by how often the word occurs: a list of `count << bits | topic`,
 * or a row with a count for each topic. Lists pay while a word has few topics, rows beyond some eighth
 * of K, since they need no gather. Lists are padded to 16 cells with `pad`, a topic that no token has and
 * whose coefficient is 0; rows with zeros. */
#ifndef PLUGSAMP_PACKED_H
#define PLUGSAMP_PACKED_H
#include <stdlib.h>
#include "plugsamp/kernels/lanes.h"

typedef struct {
  uint32_t at;    /* where its cells begin, in units of 32 bytes */
  int32_t size;   /* topics in the list; of a row, all of them */
  float beta;
  uint8_t wide;   /* 32 bits a cell, else 16 */
  uint8_t row;    /* a row, else a list */
  uint8_t may_row; /* there is room for a row */
  uint8_t must_row; /* counts that do not fit beside a topic */
} p_word;

#if defined(__GNUC__)
#define p_first_bit(m) __builtin_ctz(m)
#else
static __inline int p_first_bit(uint32_t m) { unsigned long i; _BitScanForward(&i, m); return (int)i; }
#endif

/* Count times coefficient of 16 cells from `g` on, the own topic's left out; returns the sums by lane.
 * Where the own topic is found its cell's index goes to *place. */
#if defined(__AVX512F__)
#define P_UNPACK16(p) _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(p)))
#define P_UNPACK32(p) _mm512_loadu_si512((const void *)(p))
#define P_LIST(cell, UNPACK) \
  __m512 acc = _mm512_setzero_ps(); \
  const __m512i low = _mm512_set1_epi32((1 << bits) - 1), me = _mm512_set1_epi32(own); \
  const __m128i shift = _mm_cvtsi32_si128(bits); \
  int found = -1; \
  for (int g = 0; g < size; g += 16) { \
    __m512i e = UNPACK(cells + g), t = _mm512_and_si512(e, low); \
    __mmask16 mine = _mm512_cmpeq_epi32_mask(t, me); \
    __m512 v = _mm512_i32gather_ps(t, coefficient, 4); \
    v = _mm512_maskz_mul_ps((__mmask16)~mine, _mm512_cvtepi32_ps(_mm512_srl_epi32(e, shift)), v); \
    found = mine ? g + p_first_bit(mine) : found; \
    _mm512_storeu_ps(w + g, v); \
    acc = _mm512_add_ps(acc, v); \
  } \
  *place = found; \
  return (lf){(vf)acc}
#define P_ROW(cell, UNPACK) \
  __m512 acc = _mm512_setzero_ps(); \
  __m512i t = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); \
  const __m512i me = _mm512_set1_epi32(own), step = _mm512_set1_epi32(16); \
  for (int g = 0; g < size; g += 16) { \
    __mmask16 others = _mm512_cmpneq_epi32_mask(t, me); \
    __m512 v = _mm512_maskz_mul_ps(others, _mm512_cvtepi32_ps(UNPACK(cells + g)), _mm512_loadu_ps(coefficient + g)); \
    t = _mm512_add_epi32(t, step); \
    _mm512_storeu_ps(w + g, v); \
    acc = _mm512_add_ps(acc, v); \
  } \
  return (lf){(vf)acc}
#elif defined(__AVX2__)
#define P_UNPACK16(p) _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(p)))
#define P_UNPACK32(p) _mm256_loadu_si256((const __m256i *)(p))
#define P_LIST(cell, UNPACK) \
  __m256 sum[2]; \
  const __m256i low = _mm256_set1_epi32((1 << bits) - 1), me = _mm256_set1_epi32(own); \
  const __m128i shift = _mm_cvtsi32_si128(bits); \
  int found = -1; \
  sum[0] = sum[1] = _mm256_setzero_ps(); \
  for (int g = 0; g < size; g += 16) \
    for (int h = 0; h < 2; h++) { \
      __m256i e = UNPACK(cells + g + 8 * h), t = _mm256_and_si256(e, low), mine = _mm256_cmpeq_epi32(t, me); \
      __m256 v = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_srl_epi32(e, shift)), _mm256_i32gather_ps(coefficient, t, 4)); \
      int m = _mm256_movemask_ps(_mm256_castsi256_ps(mine)); \
      v = _mm256_andnot_ps(_mm256_castsi256_ps(mine), v); \
      found = m ? g + 8 * h + p_first_bit(m) : found; \
      _mm256_storeu_ps(w + g + 8 * h, v); \
      sum[h] = _mm256_add_ps(sum[h], v); \
    } \
  *place = found; \
  return (lf){(vf)sum[0], (vf)sum[1]}
#define P_ROW(cell, UNPACK) \
  __m256 sum[2]; \
  __m256i t = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); \
  const __m256i me = _mm256_set1_epi32(own), step = _mm256_set1_epi32(8); \
  sum[0] = sum[1] = _mm256_setzero_ps(); \
  for (int g = 0; g < size; g += 16) \
    for (int h = 0; h < 2; h++) { \
      __m256 v = _mm256_mul_ps(_mm256_cvtepi32_ps(UNPACK(cells + g + 8 * h)), _mm256_loadu_ps(coefficient + g + 8 * h)); \
      v = _mm256_andnot_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(t, me)), v); \
      t = _mm256_add_epi32(t, step); \
      _mm256_storeu_ps(w + g + 8 * h, v); \
      sum[h] = _mm256_add_ps(sum[h], v); \
    } \
  return (lf){(vf)sum[0], (vf)sum[1]}
#else
#define P_UNPACK16
#define P_UNPACK32
#define P_LIST(cell, UNPACK) \
  lf acc = l_set(0); \
  const cell low = (cell)((1 << bits) - 1); \
  *place = -1; \
  for (int g = 0; g < size; g += 16) { \
    for (int i = g; i < g + 16; i++) { \
      int t = (int)(cells[i] & low); \
      w[i] = t == own ? 0.0f : (float)(cells[i] >> bits) * coefficient[t]; \
      if (t == own) *place = i; \
    } \
    acc = l_add(acc, l_load(w + g)); \
  } \
  return acc
#define P_ROW(cell, UNPACK) \
  lf acc = l_set(0); \
  for (int g = 0; g < size; g += 16) { \
    for (int i = g; i < g + 16; i++) w[i] = i == own ? 0.0f : (float)cells[i] * coefficient[i]; \
    acc = l_add(acc, l_load(w + g)); \
  } \
  return acc
#endif

L_INLINE lf p_list16(const uint16_t *cells, int size, int bits, int own, const float *coefficient, float *w, int *place) { P_LIST(uint16_t, P_UNPACK16); }
L_INLINE lf p_list32(const uint32_t *cells, int size, int bits, int own, const float *coefficient, float *w, int *place) { P_LIST(uint32_t, P_UNPACK32); }
L_INLINE lf p_row16(const uint16_t *cells, int size, int own, const float *coefficient, float *w) { P_ROW(uint16_t, P_UNPACK16); }
L_INLINE lf p_row32(const uint32_t *cells, int size, int own, const float *coefficient, float *w) { P_ROW(uint32_t, P_UNPACK32); }

/* The word's part of the weights: every topic but `own`, by cell into w; *n gets the own topic's count and
 * *place its cell (-1: no topic is left out). */
L_INLINE lf p_weigh(const p_word *word, const void *cells, int bits, int own, const float *coefficient,
                    float *w, int *place, int *n) {
  const uint16_t *c16 = (const uint16_t *)cells;
  const uint32_t *c32 = (const uint32_t *)cells;
  lf acc;
  if (!word->row) {
    if (!word->wide) {
      acc = p_list16(c16, word->size, bits, own, coefficient, w, place);
      *n = *place < 0 ? 0 : c16[*place] >> bits;
    } else {
      acc = p_list32(c32, word->size, bits, own, coefficient, w, place);
      *n = *place < 0 ? 0 : (int)(c32[*place] >> bits);
    }
  } else {
    *place = own;
    if (!word->wide) {
      acc = p_row16(c16, word->size, own, coefficient, w);
      *n = own < 0 ? 0 : c16[own];
    } else {
      acc = p_row32(c32, word->size, own, coefficient, w);
      *n = own < 0 ? 0 : (int)c32[own];
    }
  }
  return acc;
}

/* The cell at which the running sum of w passes target: a lane first, then down its groups; `scan` are the
 * running sums of the lanes. Never a cell of weight 0; -1 where there is no other. */
L_INLINE int p_choose(const float *w, int size, lf scan, float target) {
  float sums[16], here;
  int lane = l_count_le(scan, target), last = -1;
  l_store(sums, scan);
  if (lane > 15) lane = 15;
  target = lane > 0 ? target - sums[lane - 1] : target;
  for (int k = lane; k < size; k += 16) {
    here = w[k];
    if (here > 0.0f) {
      last = k;
      if (target < here) return k;
      target -= here;
    }
  }
  if (last < 0)
    for (int k = 0; k < size; k++) /* the lane was empty: rounding put the target past the last sum */
      if (w[k] > 0.0f) last = k;
  return last;
}

L_INLINE int p_topic(const p_word *word, const void *cells, int bits, int cell) {
  if (word->row) return cell;
  return word->wide ? (int)(((const uint32_t *)cells)[cell] & ((1u << bits) - 1))
                    : ((const uint16_t *)cells)[cell] & ((1 << bits) - 1);
}

/* One more token of a topic; `cell` is its cell or -1 for unknown. */
#define P_PUT(cell_type) \
  cell_type *c = (cell_type *)cells; \
  if (cell < 0) \
    for (int i = 0; i < word->size; i++) \
      if ((int)(c[i] & (cell_type)((1u << bits) - 1)) == topic) { cell = i; break; } \
  if (cell < 0) c[word->size++] = (cell_type)((1u << bits) | (uint32_t)topic); \
  else c[cell] = (cell_type)(c[cell] + (1u << bits))

L_INLINE void p_put(p_word *word, void *cells, int bits, int topic, int cell) {
  if (word->row) {
    if (word->wide) ((uint32_t *)cells)[topic]++;
    else ((uint16_t *)cells)[topic]++;
  } else if (word->wide) { P_PUT(uint32_t); }
  else { P_PUT(uint16_t); }
}

/* One token less in a cell; where none is left the last cell takes its place. */
#define P_TAKE(cell_type) \
  cell_type *c = (cell_type *)cells; \
  c[cell] = (cell_type)(c[cell] - (1u << bits)); \
  if (c[cell] >> bits == 0) { \
    int last = --word->size; \
    c[cell] = c[last]; \
    c[last] = (cell_type)pad; \
  }

L_INLINE void p_take(p_word *word, void *cells, int bits, int pad, int cell) {
  if (word->row) {
    if (word->wide) ((uint32_t *)cells)[cell]--;
    else ((uint16_t *)cells)[cell]--;
  } else if (word->wide) { P_TAKE(uint32_t) }
  else { P_TAKE(uint16_t) }
}

/* Descending, which makes a list a function of its counts alone. */
static int p_descending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? 1 : x > y ? -1 : 0;
}
static int p_descending16(const void *a, const void *b) { return (int)*(const uint16_t *)b - (int)*(const uint16_t *)a; }
#define P_SORT(cell_type, compare) \
  cell_type *c = (cell_type *)cells; \
  if (word->size > 256) { qsort(c, (size_t)word->size, sizeof(cell_type), compare); return; } \
  for (int i = 1; i < word->size; i++) { \
    cell_type x = c[i]; \
    int j = i - 1; \
    for (; j >= 0 && c[j] < x; j--) c[j + 1] = c[j]; \
    c[j + 1] = x; \
  }

static void p_sort(p_word *word, void *cells) {
  if (word->wide) { P_SORT(uint32_t, p_descending) }
  else { P_SORT(uint16_t, p_descending16) }
}

/* Into counts by topic (zeros before), and back in the shape that pays: true for a row. */
static void p_unpack(const p_word *word, const void *cells, int bits, uint32_t *counts) {
  for (int i = 0; i < word->size; i++) {
    uint32_t cell = word->wide ? ((const uint32_t *)cells)[i] : ((const uint16_t *)cells)[i];
    if (word->row) counts[i] = cell;
    else counts[cell & ((1u << bits) - 1)] = cell >> bits;
  }
}
static void p_pack(p_word *word, void *cells, int bits, int pad, int stride, const uint32_t *counts, int row) {
  uint32_t *c32 = (uint32_t *)cells;
  uint16_t *c16 = (uint16_t *)cells;
  int before = word->row ? stride : word->size, n = 0;
  for (int k = 0; k < stride; k++) {
    uint32_t cell = row ? counts[k] : (counts[k] << bits) | (uint32_t)k;
    if (!row && !counts[k]) continue;
    if (word->wide) c32[n++] = cell;
    else c16[n++] = (uint16_t)cell;
  }
  word->row = (uint8_t)row;
  word->size = n;
  for (; n < before; n++) {
    if (word->wide) c32[n] = (uint32_t)pad;
    else c16[n] = (uint16_t)pad;
  }
}
#endif
