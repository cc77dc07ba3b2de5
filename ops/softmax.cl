// y = e * (1 / sum(e)), e = 2^((x - max(x)) * k), k = beta * log2(e), along one
// axis; every step rounded to float32, the sum from left to right, 2^t and 1 /
// s correctly rounded: the same bits as eval on every device.
//
// Dense tensors.  `count` elements lie along the axis.
//   softmax_row    axis 0: one work-item makes one row
//   softmax_rows   the same of float32 outputs: one work-item makes 16 rows,
//                  whose sums are the lanes of a vector
//   softmax_lanes  one work-item makes 16 rows (or columns) at once: row r of
//                  slice s starts at s * slice_step + r * row_step, its
//                  elements are `step` apart
//
// A float32 output holds e until the sum is known.
//
// -DIN=F32 -DOUT=F32  element types of kernels/elements16.clh

#include "kernels/elements16.clh"
#include "kernels/exact_exp2.clh"
#include "kernels/transpose16.clh"

#ifndef IN
#define IN F32
#endif
#ifndef OUT
#define OUT F32
#endif

#define HOLDS_F32 1
#define OUTPUT_HOLDS_E TIM_PASTE(HOLDS_, OUT)

// Real values of 16 elements `step` apart, of which `lanes` exist; the others
// are `fill`.
static inline float16 load_lanes(__global const TIM_STORAGE(IN) * in, int step,
                                 int lanes, float fill, float scale, int zero) {
  if (lanes >= 16 && step == 1) return TIM_LOAD_REAL16(IN, in, 0, scale, zero);
  float x[16];
  for (int j = 0; j < 16; ++j) {
    x[j] = fill;
    if (j < lanes) x[j] = TIM_LOAD_REAL(IN, in, j * step, scale, zero);
  }
  return vload16(0, x);
}

static inline void store_lanes(float16 y, __global TIM_STORAGE(OUT) * out,
                               int step, int lanes, float scale, float inverse,
                               int zero) {
  if (lanes >= 16 && step == 1) {
    TIM_STORE_REAL16(OUT, out, 0, y, scale, inverse, zero);
    return;
  }
  float value[16];
  vstore16(y, 0, value);
  for (int j = 0; j < min(lanes, 16); ++j) {
    TIM_STORE_REAL(OUT, out, j * step, value[j], scale, inverse, zero);
  }
}

#if OUTPUT_HOLDS_E
static inline void scale_lanes(float16 r, __global float* out, int step,
                               int lanes) {
  if (lanes >= 16 && step == 1) {
    vstore16(vload16(0, out) * r, 0, out);
    return;
  }
  float factor[16];
  vstore16(r, 0, factor);
  for (int j = 0; j < min(lanes, 16); ++j) out[j * step] *= factor[j];
}
#endif

static inline float row_maximum(__global const TIM_STORAGE(IN) * in, int count,
                                float scale, int zero) {
  float16 maxima = -INFINITY;
  for (int i = 0; i < count; i += 16) {
    const float16 x = load_lanes(in + i, 1, count - i, -INFINITY, scale, zero);
    maxima = x > maxima ? x : maxima;
  }
  float lane[16];
  vstore16(maxima, 0, lane);
  float m = lane[0];
  for (int j = 1; j < 16; ++j) m = lane[j] > m ? lane[j] : m;
  return m;
}

// sum + the e of elements `first` and on, which float32 outputs receive.
static inline float add_row(__global const TIM_STORAGE(IN) * in,
                            __global TIM_STORAGE(OUT) * out, int first,
                            int count, float m, float k, float sum, float scale,
                            int zero) {
  const int16 index =
      (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (int i = first; i < count; i += 16) {
    const float16 x = load_lanes(in + i, 1, count - i, m, scale, zero);
    const float16 e = tim_exp2_16((x - m) * k);
#if OUTPUT_HOLDS_E
    store_lanes(e, out + i, 1, count - i, 1.0f, 1.0f, 0);
#endif
    // Adding 0 for a lane that does not exist changes nothing.
    sum = tim_add_16(sum, index < count - i ? e : (float16)(0.0f));
  }
  return sum;
}

__kernel void softmax_row(__global const TIM_STORAGE(IN) * in, int in_offset,
                          __global TIM_STORAGE(OUT) * out, int out_offset,
                          int count, int rows, float k, float in_scale,
                          int in_zero, float out_scale, float out_inverse,
                          int out_zero) {
  const int row = get_global_id(0);
  if (row >= rows) return;
  in += in_offset + row * count;
  out += out_offset + row * count;
  const float m = row_maximum(in, count, in_scale, in_zero);
  const float sum = add_row(in, out, 0, count, m, k, 0.0f, in_scale, in_zero);
  const float r = tim_reciprocal(sum);
  for (int i = 0; i < count; i += 16) {
#if OUTPUT_HOLDS_E
    scale_lanes((float16)(r), out + i, 1, count - i);
#else
    const float16 x = load_lanes(in + i, 1, count - i, m, in_scale, in_zero);
    store_lanes(tim_exp2_16((x - m) * k) * r, out + i, 1, count - i, out_scale,
                out_inverse, out_zero);
#endif
  }
}

#if OUTPUT_HOLDS_E
// The last work-item has all that is left: up to 15 rows have sums of their
// own.
__kernel void softmax_rows(__global const TIM_STORAGE(IN) * in, int in_offset,
                           __global float* out, int out_offset, int count,
                           int rows, float k, float in_scale, int in_zero,
                           float out_scale, float out_inverse, int out_zero) {
  const int row = get_global_id(0) * 16;
  if (row >= rows) return;
  const int lanes = min(rows - row, 16);
  in += in_offset + row * count;
  out += out_offset + row * count;
  float m[16];
  float sums[16];
  for (int j = 0; j < lanes; ++j) {
    m[j] = row_maximum(in + j * count, count, in_scale, in_zero);
    sums[j] = 0.0f;
  }
  int whole = 0;
  if (lanes == 16) {
    float16 sum = 0.0f;
    for (; whole + 16 <= count; whole += 16) {
      float16 e[16];
      for (int j = 0; j < 16; ++j) {
        const int i = j * count + whole;
        const float16 x = TIM_LOAD_REAL16(IN, in, i, in_scale, in_zero);
        e[j] = tim_exp2_16((x - m[j]) * k);
        vstore16(e[j], 0, out + i);
      }
      tim_transpose16(e);
#pragma unroll
      for (int j = 0; j < 16; ++j) sum += e[j];
    }
    vstore16(sum, 0, sums);
  }
  for (int j = 0; j < lanes; ++j) {
    const int i = j * count;
    const float sum = add_row(in + i, out + i, whole, count, m[j], k, sums[j],
                              in_scale, in_zero);
    const float16 r = tim_reciprocal(sum);
    for (int column = 0; column < count; column += 16) {
      scale_lanes(r, out + i + column, 1, count - column);
    }
  }
}
#endif

__kernel void softmax_lanes(__global const TIM_STORAGE(IN) * in, int in_offset,
                            __global TIM_STORAGE(OUT) * out, int out_offset,
                            int count, int step, int rows, int row_step,
                            int slice_step, float k, float in_scale,
                            int in_zero, float out_scale, float out_inverse,
                            int out_zero) {
  const int row = get_global_id(0) * 16;
  if (row >= rows) return;
  const int first = get_global_id(1) * slice_step + row * row_step;
  in += in_offset + first;
  out += out_offset + first;
  const int lanes = rows - row;
  float16 m = -INFINITY;
  for (int i = 0; i < count; ++i) {
    const float16 x =
        load_lanes(in + i * step, row_step, lanes, 0.0f, in_scale, in_zero);
    m = x > m ? x : m;
  }
  float16 sum = 0.0f;
  for (int i = 0; i < count; ++i) {
    const float16 x =
        load_lanes(in + i * step, row_step, lanes, 0.0f, in_scale, in_zero);
    const float16 e = tim_exp2_16((x - m) * k);
#if OUTPUT_HOLDS_E
    store_lanes(e, out + i * step, row_step, lanes, 1.0f, 1.0f, 0);
#endif
    sum += e;
  }
  float lane[16];
  vstore16(sum, 0, lane);
  for (int j = 0; j < 16; ++j) lane[j] = tim_reciprocal(lane[j]);
  const float16 r = vload16(0, lane);
  for (int i = 0; i < count; ++i) {
#if OUTPUT_HOLDS_E
    scale_lanes(r, out + i * step, row_step, lanes);
#else
    const float16 x =
        load_lanes(in + i * step, row_step, lanes, 0.0f, in_scale, in_zero);
    store_lanes(tim_exp2_16((x - m) * k) * r, out + i * step, row_step, lanes,
                out_scale, out_inverse, out_zero);
#endif
  }
}
