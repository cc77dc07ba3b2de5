// Pools the windows of images of 8-bit codes in blocks of 16 channels, [16, w,
// h, blocks, n]: one work-item makes up to TILE neighbouring elements of a row
// of the output, 16 channels each; dimension 0 = tile + tiles * (row + rows *
// plane of the group), dimension 2 = group of planes.
//
// -DIN=U8 -DOUT=U8  types of codes, U8 or I8
// -DPOOL=0  0 the greatest cell, 1 the sum / (kernel_w * kernel_h),
//           3 the sum / cells inside, 4 the sum / cells before padded_w and
//           padded_h; sums are of code - in_zero, and the
//           output is clamp(rint(result * multiplier + zero))
// -DBOUNDED  |result * multiplier + zero| < 2^22
// -DSAME    of POOL=0: the output has the codes of the input
// -DKERNEL_W=3, -DSTRIDE_W=2  windows of few columns: each is then looked at
//                             once for all the windows that have it

#include "kernels/bytes/codes.clh"
#include "kernels/elements16.clh"
#include "kernels/memory16.clh"
#include "ops/pooling/pool_sizes.clh"

#ifndef IN
#define IN U8
#endif
#ifndef OUT
#define OUT U8
#endif
#ifndef POOL
#define POOL 0
#endif

#ifdef BOUNDED
#define STORE_UNITS16(v) TIM_STORE_BOUNDED_UNITS16(OUT, out, 0, v)
#else
#define STORE_UNITS16(v) TIM_STORE_UNITS16(OUT, out, 0, v)
#endif

#define TILE 8

#define CODE TIM_STORAGE(IN)
#define CODE16 TIM_PASTE(CODE, 16)
#define STORED TIM_STORAGE(OUT)
#define STORED16 TIM_PASTE(STORED, 16)

// What a window is joined to, and what columns that are outside of the image
// hold: the zero of sums, or nothing that is greater than a cell inside.
#if POOL == 0
#define JOINED CODE16
#define READ(i) TIM_VLOAD16(i, in, CODE)
#define JOIN(a, b) max(a, b)
#else
#define JOINED int16
#define READ(i) convert_int16(TIM_VLOAD16(i, in, CODE))
#define JOIN(a, b) ((a) + (b))
#endif

#define FINISH_PARAMETERS                                            \
  int kernel_cells, float window, float inverse_window, int in_zero, \
      float multiplier, int zero
#define FINISH_ARGUMENTS \
  kernel_cells, window, inverse_window, in_zero, multiplier, zero

// Stores what `cells` cells are joined to, of which `counted` are in the mean.
static inline void store_window(JOINED joined, int cells, int counted,
                                FINISH_PARAMETERS, __global STORED* out) {
#ifdef SAME
  TIM_VSTORE16(joined, 0, out, STORED);
#elif POOL == 0
  const float16 result = convert_float16(convert_int16(joined) - in_zero);
  STORE_UNITS16(result * multiplier + (float)zero);
#else
  float divisor = window;
  float inverse = inverse_window;
#if POOL != 1
  if (counted != kernel_cells) {
    divisor = (float)max(counted, 1);
    inverse = tim_reciprocal(divisor);
  }
#endif
  const float16 mean =
      tim_divide16(convert_float16(joined - in_zero * cells), divisor, inverse);
  STORE_UNITS16(mean * multiplier + (float)zero);
#endif
}

// Rows [y, y_end), columns [x, x_end) of an image of w columns, not empty.
static inline JOINED join_window(__global const CODE* in, int w, int x,
                                 int x_end, int y, int y_end) {
  JOINED joined = READ(y * w + x);
  for (int ix = x + 1; ix < x_end; ++ix)
    joined = JOIN(joined, READ(y * w + ix));
  for (int iy = y + 1; iy < y_end; ++iy) {
    for (int ix = x; ix < x_end; ++ix) joined = JOIN(joined, READ(iy * w + ix));
  }
  return joined;
}

#ifdef KERNEL_W
#ifndef STRIDE_W
#define STRIDE_W 1
#endif
#define COLUMNS ((TILE - 1) * STRIDE_W + KERNEL_W)

// Column x of a row.  Beyond the image it is as if the outermost columns went
// on for ever, which changes no maximum that has one of them; sums have cells
// of the value 0 there.
static inline JOINED read_column(__global const CODE* in, int w, int x,
                                 bool beyond, int in_zero) {
  if (!beyond) return READ(x);
  const JOINED column = READ(clamp(x, 0, w - 1));
#if POOL == 0
  return column;
#else
  return x < 0 || x >= w ? (int16)(in_zero) : column;
#endif
}

// The `count` windows from column x on: rows [y, y_end), of which there is one.
// Each has a column inside; they have no other unless `beyond`.  Columns from
// `first` to `end` and `counted` rows are in the mean.
static inline void pool_tile(__global const CODE* in, int w, int x, int y,
                             int y_end, bool beyond, int count, int first,
                             int end, int counted, FINISH_PARAMETERS,
                             __global STORED* out) {
  JOINED columns[COLUMNS];
  const int rows = y_end - y;
  in += y * w * 16;
#pragma unroll
  for (int i = 0; i < COLUMNS; ++i) {
    columns[i] = read_column(in, w, x + i, beyond, in_zero);
  }
  for (++y; y < y_end; ++y) {
    in += w * 16;
#pragma unroll
    for (int i = 0; i < COLUMNS; ++i) {
      columns[i] = JOIN(columns[i], read_column(in, w, x + i, beyond, in_zero));
    }
  }
#pragma unroll
  for (int o = 0; o < TILE; ++o) {
    JOINED joined = columns[o * STRIDE_W];
#pragma unroll
    for (int i = 1; i < KERNEL_W; ++i) {
      joined = JOIN(joined, columns[o * STRIDE_W + i]);
    }
    const int left = x + o * STRIDE_W;
    const int across = min(left + KERNEL_W, end) - max(left, first);
    if (o < count) {
      store_window(joined, KERNEL_W * rows, across * counted, FINISH_ARGUMENTS,
                   out + o * 16);
    }
  }
}
#endif

// What a window without a cell has: the least code in the lanes that are
// channels, the code of 0 in the others; sums are 0.
static inline STORED16 empty_window(int lanes, int lowest, int zero) {
  const int16 lane =
      (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#if POOL == 0
  const int16 codes = lane < lanes ? (int16)(lowest) : (int16)(zero);
#else
  const int16 codes = zero;
#endif
  return TIM_PASTE(TIM_PASTE(convert_, STORED16), _sat)(codes);
}

__kernel void pool2d_nchw16c_codes(__global const CODE* in, int in_offset,
                                   __global STORED* out, int out_offset,
                                   pool_sizes sizes, int group, int channels,
                                   float window, float inverse_window,
                                   int in_zero, float multiplier, int zero,
                                   int lowest) {
  const int tiles = (sizes.out_w + TILE - 1) / TILE;
  const int of_group = get_global_id(0) / tiles;
  const int above = of_group / sizes.out_h;
  const int row = of_group - above * sizes.out_h;
  const int plane = get_global_id(2) * group + above;
  if (above >= group || plane >= sizes.planes) return;
  const int first = (get_global_id(0) - of_group * tiles) * TILE;
  const int y = row * sizes.stride_h - sizes.top;
  const int y_begin = clamp(y, 0, sizes.h);
  const int y_end = clamp(y + sizes.kernel_h, 0, sizes.h);
  const int kernel_cells = sizes.kernel_w * sizes.kernel_h;
#if POOL == 4
  const int first_column = -sizes.left;
  const int end_column = sizes.padded_w;
  const int counted_rows = max(min(y + sizes.kernel_h, sizes.padded_h) - y, 0);
#else
  const int first_column = 0;
  const int end_column = sizes.w;
  const int counted_rows = y_end - y_begin;
#endif
  in += in_offset + plane * sizes.h * sizes.w * 16;
  out += out_offset + (plane * sizes.out_h + row) * sizes.out_w * 16;
#ifdef KERNEL_W
  const int tile_x = first * STRIDE_W - sizes.left;
  const int count = min(TILE, sizes.out_w - first);
  if (y_begin < y_end && tile_x + KERNEL_W > 0 &&
      tile_x + (count - 1) * STRIDE_W < sizes.w) {
    const bool inside = tile_x >= 0 && tile_x + COLUMNS <= sizes.w;
    pool_tile(in, sizes.w, tile_x, y_begin, y_end, !inside, count, first_column,
              end_column, counted_rows, FINISH_ARGUMENTS, out + first * 16);
    return;
  }
#endif
  const int block = plane % ((channels + 15) / 16);
  for (int ox = first; ox < min(first + TILE, sizes.out_w); ++ox) {
    const int x = ox * sizes.stride_w - sizes.left;
    const int x_begin = clamp(x, 0, sizes.w);
    const int x_end = clamp(x + sizes.kernel_w, 0, sizes.w);
    const int cells = (x_end - x_begin) * (y_end - y_begin);
    if (cells > 0) {
#if POOL == 4
      const int counted =
          (min(x + sizes.kernel_w, sizes.padded_w) - x) * counted_rows;
#else
      const int counted = cells;
#endif
      store_window(join_window(in, sizes.w, x_begin, x_end, y_begin, y_end),
                   cells, counted, FINISH_ARGUMENTS, out + ox * 16);
    } else {
      TIM_VSTORE16(empty_window(channels - block * 16, lowest, zero), ox, out,
                   STORED);
    }
  }
}
