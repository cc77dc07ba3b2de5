// Pools the windows of dense planes [w, h] of float32, or of 8-bit codes to
// codes.
//   pool2d_rows    one work-item makes up to SEGMENT neighbours of `group` rows
//                  of the output, 16 at a time; dimension 0 = segment +
//                  segments * (group of rows + groups * plane)
//   pool2d_planes  means of whole planes: one work-item makes 16 of them
// Rows are joined column by column, then the columns of each window; sums of
// floats are in the order of eval, row by row.
//
// -DIN=F32 -DOUT=F32  both F32, or each of them U8 or I8
// -DPOOL=0  0 the greatest cell, 1 the sum / (kernel_w * kernel_h),
//           3 the sum / cells inside, 4 the sum / cells before padded_w and
//           padded_h; sums of codes are of code - in_zero, and the
//           output is clamp(rint(result * multiplier + zero))
// -DBOUNDED  |result * multiplier + zero| < 2^22
// -DSAME     of POOL=0: the output has the codes of the input
// -DKERNEL_W=3 -DSTRIDE_W=2  kernel_w and stride_w, at most 16; of planes 1

#include "kernels/bytes/codes.clh"
#include "kernels/exact_quotient.clh"
#include "kernels/part16.clh"
#include "kernels/transpose16.clh"
#include "ops/pooling/pool_sizes.clh"

#ifndef IN
#define IN F32
#endif
#ifndef OUT
#define OUT F32
#endif
#ifndef POOL
#define POOL 0
#endif
#ifndef KERNEL_W
#define KERNEL_W 3
#endif
#ifndef STRIDE_W
#define STRIDE_W 2
#endif

#define SEGMENT 256

#define CELL TIM_STORAGE(IN)
#define STORED TIM_STORAGE(OUT)
#define STORED16 TIM_PASTE(STORED, 16)

#define LANES ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

// NaN stays.
static inline float16 greater(float16 a, float16 b) {
  const float16 number = b > a ? b : a;
  return b == b ? number : b;
}

// What a window is joined to, row by row if IN_ORDER; what it is before, and
// what so many rows of a column of padding are joined to; the type of masks of
// its vectors.
#if POOL == 0 && TIM_IS_FLOAT(IN)
#define JOINED float
#define AS_JOINED16(v) (v)
#define JOIN(a, b) greater(a, b)
#define NONE (-INFINITY)
#define PADDING(rows) NONE
#define MASK16 int16
#elif POOL == 0
#define JOINED CELL
#define AS_JOINED16(v) (v)
#define JOIN(a, b) max(a, b)
#define NONE TIM_LEAST(IN)
#define PADDING(rows) NONE
#define MASK16 char16
#elif TIM_IS_FLOAT(IN)
#define JOINED float
#define AS_JOINED16(v) (v)
#define JOIN(a, b) ((a) + (b))
#define IN_ORDER
#define NONE 0.0f
#define PADDING(rows) NONE
#define MASK16 int16
#else
#define JOINED int
#define AS_JOINED16(v) convert_int16(v)
#define JOIN(a, b) ((a) + (b))
#define NONE 0
#define PADDING(rows) (in_zero * (rows))
#define MASK16 int16
#endif
#define JOINED16 TIM_PASTE(JOINED, 16)

// `rows` rows of w cells, and what columns outside of the image are joined to.
#define ROW_PARAMETERS __global const CELL *in, int rows, int w, JOINED padding
#define ROW_ARGUMENTS in, rows, w, padding

// `v` where columns x, x + STEP, ... are inside of the image.
#define WHERE_INSIDE(v, x, STEP)                                            \
  (TIM_PASTE(convert_,                                                      \
             MASK16)((x) + LANES * (STEP) >= 0 && (x) + LANES * (STEP) < w) \
       ? (v)                                                                \
       : (JOINED16)(padding))

// `joined` and the columns of the 16 windows from column x on.
static inline JOINED16 join_cells(JOINED16 joined, ROW_PARAMETERS, int x) {
  for (int i = x; i < x + KERNEL_W; ++i) {
    JOINED cells[16];
    JOINED16 columns = NONE;
    for (int y = 0; y < rows; ++y) {
      for (int j = 0; j < 16; ++j) {
        cells[j] = in[y * w + clamp(i + j * STRIDE_W, 0, w - 1)];
      }
      columns = JOIN(columns, TIM_VLOAD16_PRIVATE(0, cells, JOINED));
    }
    joined = JOIN(joined, WHERE_INSIDE(columns, i, STRIDE_W));
  }
  return joined;
}

#if STRIDE_W <= 2
// Vectors of the columns of 16 windows.
#define VECTORS ((15 * STRIDE_W + KERNEL_W + 15) / 16)

#define READ16(i) AS_JOINED16(TIM_VLOAD16(0, in + (i), CELL))

// Columns x to x + 15, of which some may be outside of the image if `edge`.
static inline JOINED16 join_rows(ROW_PARAMETERS, int x, int edge) {
  JOINED16 joined = READ16(x);
  for (int y = 1; y < rows; ++y) joined = JOIN(joined, READ16(y * w + x));
  return edge ? WHERE_INSIDE(joined, x, 1) : joined;
}

// Elements 1 to 16 of a's and b's.
#define NEXT(a, b) ((JOINED16)((a).s12345678, (a).s9abc, (a).sdef, (b).s0))

// join_cells() where there is memory for all vectors.
static inline JOINED16 join_vectors(JOINED16 joined, ROW_PARAMETERS, int x,
                                    int edge) {
  JOINED16 v[VECTORS];
#pragma unroll
  for (int i = 0; i < VECTORS; ++i) {
    v[i] = join_rows(ROW_ARGUMENTS, x + 16 * i, edge);
  }
  // Columns that the windows begin with, the second ones with steps of 2, and
  // those behind them.
#if STRIDE_W == 1
  JOINED16 first = v[0];
  JOINED16 first_rest = v[VECTORS - 1];
#else
  JOINED16 first = (JOINED16)(v[0].even, v[1].even);
  JOINED16 first_rest = (JOINED16)(v[VECTORS - 1].even, v[VECTORS - 1].even);
  JOINED16 second = (JOINED16)(v[0].odd, v[1].odd);
  JOINED16 second_rest = (JOINED16)(v[VECTORS - 1].odd, v[VECTORS - 1].odd);
#endif
#pragma unroll
  for (int i = 0; i < KERNEL_W; i += STRIDE_W) {
    joined = JOIN(joined, first);
    first = NEXT(first, first_rest);
    first_rest = NEXT(first_rest, first_rest);
#if STRIDE_W == 2
    if (i + 1 < KERNEL_W) joined = JOIN(joined, second);
    second = NEXT(second, second_rest);
    second_rest = NEXT(second_rest, second_rest);
#endif
  }
  return joined;
}
#endif

#ifdef IN_ORDER
#define TOGETHER 1
#define ALL_ROWS for (int y = 0; y < rows; ++y, in += w)
#else
#define TOGETHER rows
#define ALL_ROWS
#endif

// The 16 windows from column x on, of which there is a row, the first of them
// `from` cells from the beginning of the tensor of `total`.
static inline JOINED16 join_windows(__global const CELL* in, int rows, int w,
                                    int x, int in_zero, int from, int total) {
  const JOINED padding = PADDING(TOGETHER);
  JOINED16 joined = NONE;
#if STRIDE_W <= 2
  const int end = from + (rows - 1) * w + x + 16 * VECTORS;
  if (from + x >= 0 && end <= total) {
    if (x >= 0 && x + 15 * STRIDE_W + KERNEL_W <= w) {
      ALL_ROWS joined = join_vectors(joined, in, TOGETHER, w, padding, x, 0);
    } else {
      ALL_ROWS joined = join_vectors(joined, in, TOGETHER, w, padding, x, 1);
    }
    return joined;
  }
#endif
  ALL_ROWS joined = join_cells(joined, in, TOGETHER, w, padding, x);
  return joined;
}

// Columns from `first` to `end` of each of the 16 windows from column x on.
static inline int16 columns_inside(int x, int first, int end) {
  const int16 left = x + LANES * STRIDE_W;
  return max(min(left + KERNEL_W, (int16)(end)) - max(left, (int16)(first)),
             (int16)(0));
}

#define FINISH_PARAMETERS                                                \
  int first, int end, int rows, int counted, int kernel_h, float window, \
      float inverse_window, int in_zero, float multiplier, int zero,     \
      float lowest
#define FINISH_ARGUMENTS                                                \
  first_column, end_column, rows, counted_rows, sizes.kernel_h, window, \
      inverse_window, in_zero, multiplier, zero, lowest

// Elements of the output of the windows from column x on, which were joined.
// They have `rows` rows inside of the image; columns from `first` to `end` of
// `counted` rows are in a mean.
static inline STORED16 finish(JOINED16 joined, int x, FINISH_PARAMETERS) {
#ifdef SAME
  return joined;
#else
#if TIM_IS_FLOAT(IN)
  float16 result = joined;
#elif POOL == 0
  float16 result = convert_float16(convert_int16(joined) - in_zero);
#else
  float16 result = convert_float16(joined - in_zero * KERNEL_W * rows);
#endif
  const int inside = x >= first && x + 15 * STRIDE_W + KERNEL_W <= end;
#if POOL == 1
  result = tim_divide16(result, window, inverse_window);
#elif POOL != 0
  if (inside && counted == kernel_h) {
    result = tim_divide16(result, window, inverse_window);
  } else {
    const int16 cells = columns_inside(x, first, end) * counted;
    result =
        tim_quotient_float16(result, convert_float16(max(cells, (int16)(1))));
  }
#endif
#if !TIM_IS_FLOAT(OUT)
  result = result * multiplier + (float)zero;
#endif
#if POOL == 0
  if (!inside || rows == 0) {
    const int16 cells = columns_inside(x, first, end) * rows;
    result = cells == 0 ? (float16)(lowest) : result;
  }
#endif
#if TIM_IS_FLOAT(OUT)
  return result;
#elif defined(BOUNDED)
  return TIM_PASTE(convert_, STORED16)(TIM_CLAMPED_SUM(
      int16, result + TIM_LOW_BITS_OF_SUM, TIM_LEAST(OUT), TIM_GREATEST(OUT)));
#else
  return TIM_PASTE(tim_to_code16_, STORED)(result);
#endif
#endif
}

__kernel void pool2d_rows(__global const CELL* in, int in_offset,
                          __global STORED* out, int out_offset,
                          pool_sizes sizes, float window, float inverse_window,
                          int in_zero, float multiplier, int zero, float lowest,
                          int group) {
  const int segments = (sizes.out_w + SEGMENT - 1) / SEGMENT;
  const int groups = (sizes.out_h + group - 1) / group;
  const int of_rows = get_global_id(0) / segments;
  const int plane = of_rows / groups;
  if (plane >= sizes.planes) return;
  const int first = ((int)get_global_id(0) - of_rows * segments) * SEGMENT;
  const int count = min(SEGMENT, sizes.out_w - first);
  const int first_row = (of_rows - plane * groups) * group;
  const int total = sizes.planes * sizes.h * sizes.w;
  in += in_offset;
  out += out_offset + (plane * sizes.out_h + first_row) * sizes.out_w + first;
#if POOL == 4
  const int first_column = -sizes.left;
  const int end_column = sizes.padded_w;
#else
  const int first_column = 0;
  const int end_column = sizes.w;
#endif
  const int end_row = min(first_row + group, sizes.out_h);
  for (int row = first_row; row < end_row; ++row, out += sizes.out_w) {
    const int y = row * sizes.stride_h - sizes.top;
    const int y_begin = clamp(y, 0, sizes.h);
    const int rows = clamp(y + sizes.kernel_h, 0, sizes.h) - y_begin;
#if POOL == 4
    const int counted_rows =
        max(min(y + sizes.kernel_h, sizes.padded_h) - y, 0);
#else
    const int counted_rows = rows;
#endif
    const int from = (plane * sizes.h + y_begin) * sizes.w;
    for (int i = 0; i < count; i += 16) {
      // The last sixteen of several end with the segment.
      const int at = min(i, max(count - 16, 0));
      const int x = (first + at) * STRIDE_W - sizes.left;
      JOINED16 joined = NONE;
      if (rows > 0) {
        joined =
            join_windows(in + from, rows, sizes.w, x, in_zero, from, total);
      }
      const STORED16 result = finish(joined, x, FINISH_ARGUMENTS);
      TIM_PASTE(tim_store_part_, STORED)(result, out + at, count);
    }
  }
}

#if POOL != 0
// The means of 16 planes or more, each of which is one window of 16 cells or
// more.
__kernel void pool2d_planes(__global const CELL* in, int in_offset,
                            __global STORED* out, int out_offset,
                            pool_sizes sizes, float window,
                            float inverse_window, int in_zero, float multiplier,
                            int zero, float lowest) {
  const int first = get_global_id(0) * 16;
  const int planes = sizes.planes;
  if (first >= planes) return;
  const int at = min(first, planes - 16);  // Planes before it are another's.
  const int cells = sizes.w * sizes.h;
  const int last = cells - 16;  // The last vector may have cells again.
  in += in_offset + at * cells;
  out += out_offset + first;
#ifdef IN_ORDER
  float16 of_plane[16];
  JOINED16 joined = NONE;
  for (int i = 0; i < cells; i += 16) {
#pragma unroll
    for (int p = 0; p < 16; ++p) {
      of_plane[p] = TIM_VLOAD16(0, in + p * cells + min(i, last), CELL);
    }
    tim_transpose16(of_plane);
    if (i <= last) {
#pragma unroll
      for (int j = 0; j < 16; ++j) joined = JOIN(joined, of_plane[j]);
    } else {
      for (int j = i - last; j < 16; ++j) joined = JOIN(joined, of_plane[j]);
    }
  }
#else
  int of_plane[16];
  for (int p = 0; p < 16; ++p) {
    __global const CELL* const plane = in + p * cells;
    const JOINED16 end = AS_JOINED16(TIM_VLOAD16(0, plane + last, CELL));
    JOINED16 sum = LANES >= 16 - cells % 16 ? end : (JOINED16)(NONE);
    for (int i = 0; i <= last; i += 16) {
      sum = JOIN(sum, AS_JOINED16(TIM_VLOAD16(0, plane + i, CELL)));
    }
    const int8 eight = sum.lo + sum.hi;
    const int4 four = eight.lo + eight.hi;
    of_plane[p] = (four.x + four.y) + (four.z + four.w);
  }
  const JOINED16 joined = TIM_VLOAD16_PRIVATE(0, of_plane, int);
#endif
  // All windows are inside.
  const STORED16 result =
      finish(joined, 0, 0, sizes.w + 15, sizes.h, sizes.h, sizes.h, window,
             inverse_window, in_zero, multiplier, zero, lowest);
  if (at == first) {
    TIM_VSTORE16(result, 0, out, STORED);
  } else {
    STORED part[16];
    TIM_VSTORE16_PRIVATE(result, 0, part, STORED);
    for (int i = first; i < planes; ++i) out[i - first] = part[i - at];
  }
}
#endif
