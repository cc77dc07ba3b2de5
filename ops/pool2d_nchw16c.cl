// Pools the windows of float32 images in blocks of 16 channels, [16, w, h,
// blocks, n]: one work-item makes up to TILE neighbouring elements of a row of
// the output, 16 channels each.
//
// -DPOOL=0  0 the greatest cell, 1 the sum / (kernel_w * kernel_h),
//           3 the sum / cells inside

#include "kernels/exact_math.clh"

#ifndef POOL
#define POOL 0
#endif

#define TILE 8

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
  float16 result = vload16(y * w + x, image);
#else
  float16 result = 0.0f;
#endif
  for (int iy = y; iy < y_end; ++iy) {
    for (int ix = x; ix < x_end; ++ix) {
      const float16 value = vload16(iy * w + ix, image);
#if POOL == 0
      // NaN stays.
      result = value > result || isnan(value) ? value : result;
#else
      result += value;
#endif
    }
  }
  return result;
}

__kernel void pool2d_nchw16c(__global const float* in, int in_offset,
                             __global float* out, int out_offset, int w, int h,
                             int out_w, int out_h, int planes, int kernel_w,
                             int kernel_h, int stride_w, int stride_h, int left,
                             int top, int channels, float inverse_window,
                             float lowest) {
  const int tiles = (out_w + TILE - 1) / TILE;
  const int index = get_global_id(0);
  const int row = index / tiles;
  const int plane = row / out_h;
  if (plane >= planes) return;
  const int first = (index - row * tiles) * TILE;
  const int y = (row - plane * out_h) * stride_h - top;
  const int y_begin = clamp(y, 0, h);
  const int y_end = clamp(y + kernel_h, 0, h);
  in += in_offset + plane * h * w * 16;
  out += out_offset + row * out_w * 16;
#if POOL == 0
  const int block = plane % ((channels + 15) / 16);
  const float16 empty = lanes_inside(channels - block * 16) * lowest;
#endif
  for (int ox = first; ox < min(first + TILE, out_w); ++ox) {
    const int x = ox * stride_w - left;
    const int x_begin = clamp(x, 0, w);
    const int x_end = clamp(x + kernel_w, 0, w);
    const int count = (x_end - x_begin) * (y_end - y_begin);
#if POOL == 0
    const float16 result =
        count > 0 ? pool_window(in, w, x_begin, x_end, y_begin, y_end) : empty;
#else
    float scale = inverse_window;
#if POOL == 3
    if (count != kernel_w * kernel_h) {
      scale = count > 0 ? tim_reciprocal((float)count) : 0.0f;
    }
#endif
    const float16 result =
        pool_window(in, w, x_begin, x_end, y_begin, y_end) * scale;
#endif
    vstore16(result, ox, out);
  }
}
