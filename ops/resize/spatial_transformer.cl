// SpatialTransformer: one work-item makes one element.  `map` has six rows
// {place in a batch's theta or -1, bits of the constant}, the bits of u for
// each column of the output, and those of v for each row.
//
// -DIN0=F32 -DOUT=F32  element types (kernels/elements.clh)
// -DTHETA=F32          type of theta, where it is an operand

#include "kernels/elements.clh"
#include "ops/resize/blend.clh"

#ifndef IN0
#define IN0 F32
#endif
#ifndef OUT
#define OUT F32
#endif

#ifdef THETA
#define NUMBER(k)                   \
  (map[2 * (k)] < 0                 \
       ? as_float(map[2 * (k) + 1]) \
       : TIM_LOAD_REAL(THETA, theta, map[2 * (k)], theta_scale, theta_zero))
#else
#define NUMBER(k) as_float(map[2 * (k) + 1])
#endif

static inline float mapped(float a, float b, float c, float u, float v,
                           int extent) {
  const float s = a * v + b * u + c;
  return (s + 1.0f) * 0.5f * (float)extent;
}

__kernel void spatial_transformer(
    __global const TIM_STORAGE(IN0) * x, int x_offset,
#ifdef THETA
    __global const TIM_STORAGE(THETA) * theta, int theta_offset,
    int theta_stride, float theta_scale, int theta_zero,
#endif
    __global const int* map, int map_offset, __global TIM_STORAGE(OUT) * y,
    int y_offset, int w, int h, int channels, int batches, int out_w, int out_h,
    float x_scale, int x_zero, float y_scale, float y_inverse, int y_zero) {
  const int index = get_global_id(0);
  const int row = index / out_w;
  const int plane = row / out_h;
  const int batch = plane / channels;
  if (batch >= batches) return;
  map += map_offset;
#ifdef THETA
  theta += theta_offset + batch * theta_stride;
#endif
  const float u = as_float(map[12 + index - row * out_w]);
  const float v = as_float(map[12 + out_w + row - plane * out_h]);
  const float at_y = mapped(NUMBER(0), NUMBER(1), NUMBER(2), u, v, h);
  const float at_x = mapped(NUMBER(3), NUMBER(4), NUMBER(5), u, v, w);
  float result = 0.0f;
  if (at_x >= 0.0f && at_x < (float)w && at_y >= 0.0f && at_y < (float)h) {
    const int left = (int)at_x;
    const int top = (int)at_y;
    const int right = left + 1 < w;
    const int below = top + 1 < h;
    const int at = (plane * h + top) * w + left;
    x += x_offset;
#define CELL_IF(inside, i) \
  ((inside) ? TIM_LOAD_REAL(IN0, x, i, 1.0f, x_zero) : 0.0f)
    result =
        tim_blend(CELL_IF(1, at), CELL_IF(right, at + 1),
                  CELL_IF(below, at + w), CELL_IF(right && below, at + w + 1),
                  at_x - floor(at_x), at_y - floor(at_y));
  }
  TIM_STORE_REAL(OUT, y, y_offset + index, result * x_scale, y_scale, y_inverse,
                 y_zero);
}
