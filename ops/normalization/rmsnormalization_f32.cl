// RmsNormalization of float32 rows, and what follows it before the store:
//   y = f(x * factor * gamma + add + residual)
//   factor = 1 / sqrt(sum(x * x) * (1 / count) + eps)
// in the order of ops/normalization/norm_rows.h, thus the bits of eval.  Dense
// tensors; `count` elements along a row.  One work-item = one row.
//
// -DGAMMA     packed: filled up with zeros to whole vectors
// -DADD       an element for each of a row
// -DRESIDUAL  an element for each of the output
// -DACTIVATE  kernels/activate.clh

#include "kernels/activate.clh"
#include "kernels/exact_math.clh"
#include "kernels/lane_sum.clh"
#include "ops/normalization/lanes.clh"

// 16 elements from p[i] on, of which `lanes` exist; the others are 0.
#define LOAD(p, i, lanes) load_lanes((p) + (i), 1, lanes, 0.0f, 1.0f, 0)

static inline float factor_of_row(__global const float* x, int count,
                                  float inverse_count, float eps) {
  float16 sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  int i = 0;
  for (; i + TIM_LANES <= count; i += TIM_LANES) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float16 v = LOAD(x, i + 16 * j, 16);
      sums[j] += v * v;
    }
  }
  if (i < count) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float16 v = LOAD(x, i + 16 * j, count - i - 16 * j);
      sums[j] += v * v;
    }
  }
  return tim_reciprocal(tim_sqrt(tim_lane_total(sums) * inverse_count + eps));
}

#ifdef GAMMA
#define SCALE(y, i) y *= TIM_VLOAD16(0, gamma + gamma_offset + (i), float);
#else
#define SCALE(y, i)
#endif
#ifdef ADD
#define ADD_VECTOR(y, i, lanes) y += LOAD(add + add_offset, i, lanes);
#else
#define ADD_VECTOR(y, i, lanes)
#endif
#ifdef RESIDUAL
#define ADD_RESIDUAL(y, i, lanes) \
  y += LOAD(residual + residual_offset + row * count, i, lanes);
#else
#define ADD_RESIDUAL(y, i, lanes)
#endif
// Elements i to i + lanes of a row; those of constant 16 are vectors.
#define NORMALIZE(i, lanes)                                \
  {                                                        \
    float16 y = LOAD(in, i, lanes) * factor;               \
    SCALE(y, i)                                            \
    ADD_VECTOR(y, i, lanes)                                \
    ADD_RESIDUAL(y, i, lanes)                              \
    y = TIM_ACTIVATE(float16, y, low, high);               \
    store_lanes(y, output + (i), 1, lanes, 1.0f, 1.0f, 0); \
  }

__kernel void rmsnormalization_f32(__global const float* in, int in_offset,
#ifdef GAMMA
                                   __global const float* gamma,
                                   int gamma_offset,
#endif
#ifdef ADD
                                   __global const float* add, int add_offset,
#endif
#ifdef RESIDUAL
                                   __global const float* residual,
                                   int residual_offset,
#endif
                                   __global float* output, int output_offset,
                                   float low, float high, int count, int rows,
                                   float inverse_count, float eps) {
  const int row = get_global_id(0);
  if (row >= rows) return;
  in += in_offset + row * count;
  output += output_offset + row * count;
  const float factor = factor_of_row(in, count, inverse_count, eps);
  int i = 0;
  for (; i + 16 <= count; i += 16) NORMALIZE(i, 16)
  if (i < count) NORMALIZE(i, count - i)
}
