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
//                  elements are `stride` apart
//
// A float32 output holds e until the sum is known.
//
// -DIN=F32 -DOUT=F32  element types of kernels/elements16.clh

#include "kernels/elements16.clh"
#include "kernels/exact_exp2.clh"
#include "kernels/memory16.clh"
#include "kernels/transpose16.clh"
#include "ops/normalization/lanes.clh"

// Vectors of a row that are made at a time.
#define CHUNK 16

// Vectors of e that softmax_lanes holds where the output cannot.
#define HELD 256

#define HOLDS_F32 1
#define OUTPUT_HOLDS_E TIM_PASTE(HOLDS_, OUT)

#if OUTPUT_HOLDS_E
static inline void scale_lanes(float16 r, __global float* out, int step,
                               int lanes) {
  if (lanes >= 16 && step == 1) {
    TIM_VSTORE16(TIM_VLOAD16(0, out, float) * r, 0, out, float);
    return;
  }
  float factor[16];
  vstore16(r, 0, factor);
  for (int j = 0; j < min(lanes, 16); ++j) out[j * step] *= factor[j];
}
#endif

// x where it is greater: lanes of x that are NaN stay out.  Whatever maximum a
// row with NaN has, its sum is NaN.
static inline float16 greater(float16 x, float16 y) { return x > y ? x : y; }

static inline float greatest_lane(float16 v) {
  float lane[16];
  vstore16(v, 0, lane);
  float m = lane[0];
  for (int j = 1; j < 16; ++j) m = lane[j] > m ? lane[j] : m;
  return m;
}

static inline float row_maximum(__global const TIM_STORAGE(IN) * in, int count,
                                float scale, int zero) {
  float16 maxima = -INFINITY;
  for (int i = 0; i < count; i += 16) {
    const float16 x = load_lanes(in + i, 1, count - i, -INFINITY, scale, zero);
    maxima = greater(x, maxima);
  }
  return greatest_lane(maxima);
}

#if OUTPUT_HOLDS_E
// Makes the e of up to CHUNK vectors, and returns the lanewise maximum of as
// many of `next`.
static inline float16 store_vectors(__global const TIM_STORAGE(IN) * in,
                                    __global const TIM_STORAGE(IN) * next,
                                    __global float* out, int vectors, float m,
                                    float k, float scale, int zero) {
  float16 maxima = -INFINITY;
  float16 e[CHUNK];
  tim_exp2_doubts doubts = {0, 0};
  for (int j = 0; j < vectors; ++j) {
    const float16 x = TIM_LOAD_REAL16(IN, in, 16 * j, scale, zero);
    e[j] = tim_exp2_fast16((x - m) * k, &doubts);
    maxima = greater(TIM_LOAD_REAL16(IN, next, 16 * j, scale, zero), maxima);
  }
  if (tim_exp2_doubtful(doubts)) {
    for (int j = 0; j < vectors; ++j) {
      const float16 x = TIM_LOAD_REAL16(IN, in, 16 * j, scale, zero);
      e[j] = tim_exp2_16((x - m) * k);
    }
  }
  for (int j = 0; j < vectors; ++j) TIM_VSTORE16(e[j], j, out, float);
  return maxima;
}

// Makes the e of a row, and returns the maximum of `next`, another row: memory
// brings that one while this one is computed.  Input and output may be the same
// memory.
static inline float store_row(__global const TIM_STORAGE(IN) * in,
                              __global const TIM_STORAGE(IN) * next,
                              __global float* out, int count, float m, float k,
                              float scale, int zero) {
  float16 maxima = -INFINITY;
  int i = 0;
  for (; i + 16 * CHUNK <= count; i += 16 * CHUNK) {
    maxima = greater(
        store_vectors(in + i, next + i, out + i, CHUNK, m, k, scale, zero),
        maxima);
  }
  const int vectors = (count - i) / 16;
  if (vectors > 0) {
    maxima = greater(
        store_vectors(in + i, next + i, out + i, vectors, m, k, scale, zero),
        maxima);
    i += 16 * vectors;
  }
  if (i < count) {
    const float16 x = load_lanes(in + i, 1, count - i, m, scale, zero);
    maxima = greater(load_lanes(next + i, 1, count - i, -INFINITY, scale, zero),
                     maxima);
    store_lanes(tim_exp2_16((x - m) * k), out + i, 1, count - i, 1.0f, 1.0f, 0);
  }
  return greatest_lane(maxima);
}

// sum + elements `first` and on, from left to right.  Not with TIM_VLOAD16, as
// Intel's runtime then adds them in another order.
static inline float add_row(__global const float* e, int first, int count,
                            float sum) {
  int i = first;
  for (; i + 16 <= count; i += 16) sum = tim_add_16(sum, vload16(0, e + i));
  if (i == count) return sum;
  // Adding 0 for an element that does not exist changes nothing.
  float rest[16];
  for (int j = 0; j < 16; ++j) rest[j] = i + j < count ? e[i + j] : 0.0f;
  return tim_add_16(sum, vload16(0, rest));
}

static inline void scale_row(float r, __global float* out, int count) {
  int i = 0;
  for (; i + 16 <= count; i += 16) {
    TIM_VSTORE16(TIM_VLOAD16(0, out + i, float) * r, 0, out + i, float);
  }
  for (; i < count; ++i) out[i] *= r;
}
#else
// The sum of the e of a row, from left to right.
static inline float sum_of_row(__global const TIM_STORAGE(IN) * in, int count,
                               float m, float k, float scale, int zero) {
  const int16 index =
      (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  float sum = 0.0f;
  for (int i = 0; i < count; i += 16) {
    const float16 x = load_lanes(in + i, 1, count - i, m, scale, zero);
    const float16 e = tim_exp2_16((x - m) * k);
    // Adding 0 for a lane that does not exist changes nothing.
    sum = tim_add_16(sum, index < count - i ? e : (float16)(0.0f));
  }
  return sum;
}
#endif

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
#if OUTPUT_HOLDS_E
  store_row(in, in, out, count, m, k, in_scale, in_zero);  // no next row
  scale_row(tim_reciprocal(add_row(out, 0, count, 0.0f)), out, count);
#else
  const float r =
      tim_reciprocal(sum_of_row(in, count, m, k, in_scale, in_zero));
  for (int i = 0; i < count; i += 16) {
    const float16 x = load_lanes(in + i, 1, count - i, m, in_scale, in_zero);
    store_lanes(tim_exp2_16((x - m) * k) * r, out + i, 1, count - i, out_scale,
                out_inverse, out_zero);
  }
#endif
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
  float sums[16];
  float m = row_maximum(in, count, in_scale, in_zero);
  for (int j = 0; j < lanes; ++j) {
    const int i = j * count;
    const int next = min(j + 1, lanes - 1) * count;
    m = store_row(in + i, in + next, out + i, count, m, k, in_scale, in_zero);
    sums[j] = 0.0f;
  }
  int whole = 0;
  if (lanes == 16) {
    float16 sum = 0.0f;
    for (; whole + 16 <= count; whole += 16) {
      float16 e[16];
#pragma unroll
      for (int j = 0; j < 16; ++j) {
        e[j] = TIM_VLOAD16(0, out + j * count + whole, float);
      }
      tim_transpose16(e);
#pragma unroll
      for (int j = 0; j < 16; ++j) sum += e[j];
    }
    vstore16(sum, 0, sums);
  }
  for (int j = 0; j < lanes; ++j) {
    __global float* const e = out + j * count;
    scale_row(tim_reciprocal(add_row(e, whole, count, sums[j])), e, count);
  }
}
#endif

__kernel void softmax_lanes(__global const TIM_STORAGE(IN) * in, int in_offset,
                            __global TIM_STORAGE(OUT) * out, int out_offset,
                            int count, int stride, int rows, int row_step,
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
        load_lanes(in + i * stride, row_step, lanes, 0.0f, in_scale, in_zero);
    m = greater(x, m);
  }
#if !OUTPUT_HOLDS_E
  float16 held[HELD];
#endif
  float16 sum = 0.0f;
  for (int i = 0; i < count; ++i) {
    const float16 x =
        load_lanes(in + i * stride, row_step, lanes, 0.0f, in_scale, in_zero);
    const float16 e = tim_exp2_16((x - m) * k);
#if OUTPUT_HOLDS_E
    store_lanes(e, out + i * stride, row_step, lanes, 1.0f, 1.0f, 0);
#else
    if (i < HELD) held[i] = e;
#endif
    sum += e;
  }
  float lane[16];
  vstore16(sum, 0, lane);
  for (int j = 0; j < 16; ++j) lane[j] = tim_reciprocal(lane[j]);
  const float16 r = vload16(0, lane);
  for (int i = 0; i < count; ++i) {
#if OUTPUT_HOLDS_E
    scale_lanes(r, out + i * stride, row_step, lanes);
#else
    float16 e;
    if (i < HELD) {
      e = held[i];
    } else {
      const float16 x =
          load_lanes(in + i * stride, row_step, lanes, 0.0f, in_scale, in_zero);
      e = tim_exp2_16((x - m) * k);
    }
    store_lanes(e * r, out + i * stride, row_step, lanes, out_scale,
                out_inverse, out_zero);
#endif
  }
}
