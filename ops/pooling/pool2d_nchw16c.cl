// Pools the windows of float32 images in blocks of 16 channels, [16, w, h,
// blocks, n]: one work-item makes up to TILE neighbouring elements of a row of
// the output, 16 channels each; dimension 0 = tile + tiles * row, dimension 2 =
// block + blocks * image.
//
// -DPOOL=0  0 the greatest cell, 1 the sum / (kernel_w * kernel_h),
//           3 the sum / cells inside, 4 the sum / cells before padded_w and
//           padded_h
// -DKERNEL_W=3, -DSTRIDE_W=2  maxima of few columns: each is then looked at
//                             once for all the windows that have it

#include "kernels/exact_math.clh"
#include "kernels/memory16.clh"
#include "ops/pooling/pool_sizes.clh"

#ifndef POOL
#define POOL 0
#endif

#define TILE 8

// The greater; NaN stays.
static inline float16 greater(float16 a, float16 b) {
  return b > a || isnan(b) ? b : a;
}

// 1 in the lanes that are channels, 0 in the others.
static inline float16 lanes_inside(int channels) {
  const int16 lane =
      (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return lane < channels ? (float16)(1.0f) : (float16)(0.0f);
}

// Rows [y, y_end), columns [x, x_end) of an image of w columns.
static inline float16 pool_window(__global const float* image, int w, int x,
                                  int x_end, int y, int y_end) {
#if POOL == 0
  float16 result = TIM_VLOAD16(y * w + x, image, float);
#else
  float16 result = 0.0f;
#endif
  for (int iy = y; iy < y_end; ++iy) {
    for (int ix = x; ix < x_end; ++ix) {
      const float16 value = TIM_VLOAD16(iy * w + ix, image, float);
#if POOL == 0
      result = greater(result, value);
#else
      result += value;
#endif
    }
  }
  return result;
}

#ifdef KERNEL_W
#ifndef STRIDE_W
#define STRIDE_W 1
#endif
#define COLUMNS ((TILE - 1) * STRIDE_W + KERNEL_W)

// As if the outermost columns went on for ever: what is beyond them changes no
// maximum that has one of them.
static inline float16 load_column(__global const float* row, int w, int x,
                                  bool beyond) {
  return TIM_VLOAD16(beyond ? clamp(x, 0, w - 1) : x, row, float);
}

// Maxima of `count` neighbours, whose first window begins at column x.  Each
// window has a column inside; they have no other unless `beyond`.
static inline void max_tile(__global const float* image, int w, int x, int y,
                            int y_end, bool beyond, int count,
                            __global float* out) {
  float16 columns[COLUMNS];
  image += y * w * 16;
#pragma unroll
  for (int i = 0; i < COLUMNS; ++i) {
    columns[i] = load_column(image, w, x + i, beyond);
  }
  for (++y; y < y_end; ++y) {
    image += w * 16;
#pragma unroll
    for (int i = 0; i < COLUMNS; ++i) {
      columns[i] = greater(columns[i], load_column(image, w, x + i, beyond));
    }
  }
#pragma unroll
  for (int o = 0; o < TILE; ++o) {
    float16 result = columns[o * STRIDE_W];
#pragma unroll
    for (int i = 1; i < KERNEL_W; ++i) {
      result = greater(result, columns[o * STRIDE_W + i]);
    }
    if (o < count) TIM_VSTORE16(result, o, out, float);
  }
}
#endif

__kernel void pool2d_nchw16c(__global const float* in, int in_offset,
                             __global float* out, int out_offset,
                             pool_sizes sizes, int channels,
                             float inverse_window, float lowest) {
  const int tiles = (sizes.out_w + TILE - 1) / TILE;
  const int index = get_global_id(0);
  const int plane = get_global_id(2);
  const int row = index / tiles;
  if (row >= sizes.out_h || plane >= sizes.planes) return;
  const int first = (index - row * tiles) * TILE;
  const int y = row * sizes.stride_h - sizes.top;
  const int y_begin = clamp(y, 0, sizes.h);
  const int y_end = clamp(y + sizes.kernel_h, 0, sizes.h);
  in += in_offset + plane * sizes.h * sizes.w * 16;
  out += out_offset + (plane * sizes.out_h + row) * sizes.out_w * 16;
#if POOL == 0
  const int block = plane % ((channels + 15) / 16);
  const float16 empty = lanes_inside(channels - block * 16) * lowest;
#endif
#ifdef KERNEL_W
  const int tile_x = first * STRIDE_W - sizes.left;
  const int count = min(TILE, sizes.out_w - first);
  if (y_begin < y_end && tile_x + KERNEL_W > 0 &&
      tile_x + (count - 1) * STRIDE_W < sizes.w) {
    const bool inside = tile_x >= 0 && tile_x + COLUMNS <= sizes.w;
    max_tile(in, sizes.w, tile_x, y_begin, y_end, !inside, count,
             out + first * 16);
    return;
  }
#endif
  for (int ox = first; ox < min(first + TILE, sizes.out_w); ++ox) {
    const int x = ox * sizes.stride_w - sizes.left;
    const int x_begin = clamp(x, 0, sizes.w);
    const int x_end = clamp(x + sizes.kernel_w, 0, sizes.w);
#if POOL == 4
    const int count = max(min(x + sizes.kernel_w, sizes.padded_w) - x, 0) *
                      max(min(y + sizes.kernel_h, sizes.padded_h) - y, 0);
#else
    const int count = (x_end - x_begin) * (y_end - y_begin);
#endif
#if POOL == 0
    const float16 result =
        count > 0 ? pool_window(in, sizes.w, x_begin, x_end, y_begin, y_end)
                  : empty;
#else
    float scale = inverse_window;
#if POOL != 1
    if (count != sizes.kernel_w * sizes.kernel_h) {
      scale = count > 0 ? tim_reciprocal((float)count) : 0.0f;
    }
#endif
    const float16 result =
        pool_window(in, sizes.w, x_begin, x_end, y_begin, y_end) * scale;
#endif
    TIM_VSTORE16(result, ox, out, float);
  }
}
