// Elements to places that are affine in the coordinates of some loops.  Rows of
// `loops`: {extent, stride in x, stride in y, stride of bounds 0 and 1}:
//   y[y_start + sum of i_k * y_k] = x[x_start + sum of i_k * x_k].
// A bound asks whether start + sum of i_k * stride_k is in [0, limit).
//   index_map         one work-item makes a tile of `width` x `height` steps of
//                     loops 0 and 1
//   index_map_repeat  loop 0 has less than 16 steps, which loop 1 repeats one
//                     behind the other: one work-item makes `width` elements
//                     of that row; a copy of bits
//
// -DFILL  outside of a bound y gets the bits `value`
// -DCROP  outside of a bound there is no element of y
// -DWORD=U32  of the size of y's elements: U8, U16, U32, I64
// further -Ds: see ops/elements/convert.clh

#include "ops/elements/convert.clh"

#ifndef WORD
#define WORD U32
#endif

#define LOOP 5  // words of a row

// y[i * y0] = value, 0 <= i < n.
static inline void fill_row(__global TIM_STORAGE(WORD) * y, int y0, int n,
                            TIM_STORAGE(WORD) value) {
  int i = 0;
  if (y0 == 1) {
    for (; i + 16 <= n; i += 16) {
      TIM_STORE_BITS16(WORD, y, i, (TIM_PASTE(TIM_STORAGE(WORD), 16))(value));
    }
  }
  for (; i < n; ++i) y[i * y0] = value;
}

#define COPIES_BITS 1
#if TIM_PASTE(COPIES_, RULE)
#define WORDS16 TIM_PASTE(TIM_STORAGE(OUT), 16)

// 16 elements that are x0 apart.
static inline WORDS16 load_apart(__global const TIM_STORAGE(OUT) * x, int x0) {
  if (x0 == 2) {  // The last element is the last that is read.
    const WORDS16 low = TIM_VLOAD16(0, x, TIM_STORAGE(OUT));
    const WORDS16 high = TIM_VLOAD16(0, x + 15, TIM_STORAGE(OUT));
    return (WORDS16)(low.even, high.odd);
  }
  if (x0 == -1) {
    const WORDS16 v = TIM_VLOAD16(0, x - 15, TIM_STORAGE(OUT));
    return v.sfedcba9876543210;
  }
  return (WORDS16)(x[0], x[x0], x[2 * x0], x[3 * x0], x[4 * x0], x[5 * x0],
                   x[6 * x0], x[7 * x0], x[8 * x0], x[9 * x0], x[10 * x0],
                   x[11 * x0], x[12 * x0], x[13 * x0], x[14 * x0], x[15 * x0]);
}
#endif

// y[i * y0] = x[i * x0], 0 <= i < n.
static inline void copy_row(__global TIM_STORAGE(OUT) * y, int y0,
                            __global const TIM_STORAGE(IN0) * x, int x0, int n,
                            TIM_CONVERT_PARAMETERS) {
#if TIM_PASTE(COPIES_, RULE)
  if (n >= 16 && y0 == 1 && (x0 < 0 || x0 > 1)) {
    for (int i = 0; i + 16 <= n; i += 16) {
      TIM_STORE_BITS16(OUT, y, i, load_apart(x + i * x0, x0));
    }
    if (n % 16 != 0) {
      TIM_STORE_BITS16(OUT, y, n - 16, load_apart(x + (n - 16) * x0, x0));
    }
    return;
  }
#endif
  if (n < 16 || y0 != 1 || x0 < 0 || x0 > 1) {
    for (int i = 0; i < n; ++i) TIM_CONVERT(y, i * y0, x, i * x0);
    return;
  }
  if (x0 == 0) {
    TIM_CONVERT(y, 0, x, 0);
    __global TIM_STORAGE(WORD)* bits = (__global TIM_STORAGE(WORD)*)y;
    fill_row(bits, 1, n, bits[0]);
    return;
  }
  for (int i = 0; i + 16 <= n; i += 16) TIM_CONVERT16(y, i, x, i);
  // The last vector overlaps the one before it.
  if (n % 16 != 0) TIM_CONVERT16(y, n - 16, x, n - 16);
}

#if defined(FILL) || defined(CROP)
// What of the steps [range.x, range.y) is in 0 <= start + i * stride < limit.
static inline int2 steps_inside(int2 range, int start, int stride, int limit) {
  if (stride == 0) {
    return start >= 0 && start < limit ? range : (int2)(range.x);
  }
  // Counted from the low end.
  const int low = stride > 0 ? start : limit - 1 - start;
  const int width = abs(stride);
  const int begin = low < 0 ? (width - 1 - low) / width : 0;
  const int end = low < limit ? (limit - 1 - low) / width + 1 : 0;
  const int first = clamp(begin, range.x, range.y);
  return (int2)(first, clamp(end, first, range.y));
}
#endif

__kernel void index_map(__global const TIM_STORAGE(IN0) * x, int x_offset,
                        __global TIM_STORAGE(OUT) * y, int y_offset,
                        __global const int* loops, int loops_offset, int rank,
                        int tiles, int width, int height, int x_start,
                        int y_start, int start0, int limit0, int start1,
                        int limit1, long value, TIM_CONVERT_PARAMETERS) {
  if ((int)get_global_id(0) >= tiles) return;
  loops += loops_offset;
  const int n0 = loops[0];
  const int n1 = loops[LOOP];
  const int tiles0 = (n0 - 1) / width + 1;
  const int tiles1 = (n1 - 1) / height + 1;
  int rest = get_global_id(0);
  const int first0 = rest % tiles0 * width;
  rest /= tiles0;
  const int first1 = rest % tiles1 * height;
  rest /= tiles1;
  x_start += x_offset;
  y_start += y_offset;
  for (int k = 2; k < rank; ++k) {
    __global const int* loop = loops + LOOP * k;
    const int i = rest % loop[0];
    rest /= loop[0];
    x_start += i * loop[1];
    y_start += i * loop[2];
    start0 += i * loop[3];
    start1 += i * loop[4];
  }
  const int x0 = loops[1];
  const int y0 = loops[2];
  const int last0 = first0 + min(width, n0 - first0);
  const int last1 = first1 + min(height, n1 - first1);
  for (int i1 = first1; i1 < last1; ++i1) {
    const int from = x_start + i1 * loops[LOOP + 1];
    const int to = y_start + i1 * loops[LOOP + 2];
    int2 range = (int2)(first0, last0);
#if defined(FILL) || defined(CROP)
    range =
        steps_inside(range, start0 + i1 * loops[LOOP + 3], loops[3], limit0);
    range =
        steps_inside(range, start1 + i1 * loops[LOOP + 4], loops[4], limit1);
#endif
#ifdef FILL
    __global TIM_STORAGE(WORD)* bits = (__global TIM_STORAGE(WORD)*)y + to;
    fill_row(bits + first0 * y0, y0, range.x - first0,
             (TIM_STORAGE(WORD))value);
    fill_row(bits + range.y * y0, y0, last0 - range.y,
             (TIM_STORAGE(WORD))value);
#endif
    copy_row(y + to + range.x * y0, y0, x + from + range.x * x0, x0,
             range.y - range.x, x_scale, x_zero, y_scale, y_inverse, y_zero);
  }
}

#if TIM_PASTE(COPIES_, RULE)
__kernel void index_map_repeat(__global const TIM_STORAGE(IN0) * x,
                               int x_offset, __global TIM_STORAGE(OUT) * y,
                               int y_offset, __global const int* loops,
                               int loops_offset, int rank, int tiles, int width,
                               int x_start, int y_start) {
  if ((int)get_global_id(0) >= tiles) return;
  loops += loops_offset;
  const int n0 = loops[0];
  const int n = n0 * loops[LOOP];
  const int row_tiles = (n - 1) / width + 1;
  int rest = get_global_id(0);
  const int first = rest % row_tiles * width;
  rest /= row_tiles;
  x += x_offset + x_start;
  y += y_offset + y_start + first;
  for (int k = 2; k < rank; ++k) {
    __global const int* loop = loops + LOOP * k;
    x += rest % loop[0] * loop[1];
    y += rest % loop[0] * loop[2];
    rest /= loop[0];
  }
  // 16 times the steps are n0 vectors, again and again.
  TIM_STORAGE(OUT) pattern[16 * 16];
  for (int i = 0; i < 16 * n0; ++i) {
    pattern[i] = x[(first + i) % n0 * loops[1]];
  }
  const int count = min(width, n - first);
  int i = 0;
  for (int v = 0; i + 16 <= count; i += 16) {
    TIM_STORE_BITS16(OUT, y, i, vload16(v, pattern));
    v = v + 1 == n0 ? 0 : v + 1;
  }
  for (; i < count; ++i) y[i] = pattern[i % n0];
}
#endif
