// norm_rows.cl for GPUs: the same formulas in the same order, thus the same
// bits as eval.
//
// Dense tensors [inner, count, outer], `count` elements along a row.
//   norm_group  inner is 1: one work-group makes one row, one item of it a lane
//               of each sum
//   norm_items  one work-item makes one row of any step; neighbours read
//               neighbouring elements where inner is not 1
//
// -DKIND=MOMENTS      or L2 or LOG_SOFTMAX or RMS
// -DPARAMETERS=0      1: with beta and gamma; those of row r and element k are
//                     at k * step + the strides of the axes {extent, beta
//                     stride, gamma stride} that r counts
// -DSUMMAND           rows are sums, of float32: row r of `in` and row
//                     r % summand_rows of `summand`, stored in `out` first
//                     (norm_group)
// -DACTIVATED         results go through TIM_ACTIVATE of kernels/activate.clh
// -DIN=F32 -DOUT=F32 -DBETA=F32 -DGAMMA=F32  types of kernels/elements.clh

#include "ops/normalization/norm_rows.clh"

#if PARAMETERS
#define START_OF_ROW(row)                                              \
  {                                                                    \
    beta += beta_offset;                                               \
    gamma += gamma_offset;                                             \
    int left = row;                                                    \
    for (int axis = 0; axis < axes_count; ++axis) {                    \
      __global const int* const entry = axes + axes_offset + 3 * axis; \
      beta += left % entry[0] * entry[1];                              \
      gamma += left % entry[0] * entry[2];                             \
      left /= entry[0];                                                \
    }                                                                  \
  }
#define AFFINE(y, k)                                                 \
  ADD_BETA((y)*TIM_LOAD_REAL(GAMMA, gamma, (k)*gamma_step, 1.0f, 0), \
           TIM_LOAD_REAL(BETA, beta, (k)*beta_step, 1.0f, 0))
#else
#define START_OF_ROW(row)
#define AFFINE(y, k) (y)
#endif

// Element k of a row whose neighbours are `step` apart.
#define X(k, step) TIM_LOAD_REAL(IN, in, (k) * (step), in_scale, in_zero)

#if KIND == MOMENTS
#define NORMALIZED(x) ((((x)-center) - rest) * factor)
#elif KIND == L2 || KIND == RMS
#define NORMALIZED(x) ((x)*factor)
#else
#define NORMALIZED(x) (((x)-center) * factor - rest)
#endif

// Makes center, rest and factor of a row.  SUM(sum, k, TERM) sets the float
// `sum`, LARGEST(m, k, TERM) the float `m`.
#if KIND == MOMENTS
#define NUMBERS_OF_ROW(step, SUM, LARGEST)                       \
  const float first = X(0, step);                                \
  float total, squares;                                          \
  SUM(total, k, X(k, step) - first)                              \
  const float center = first + total * inverse_count;            \
  SUM(total, k, X(k, step) - center)                             \
  SUM(squares, k, (X(k, step) - center) * (X(k, step) - center)) \
  const float rest = total * inverse_count;                      \
  const float factor = factor_of(squares * inverse_count - rest * rest, value);
#elif KIND == L2 || KIND == RMS
#define NUMBERS_OF_ROW(step, SUM, LARGEST) \
  float squares;                           \
  SUM(squares, k, X(k, step) * X(k, step)) \
  const float factor = factor_of(MEAN_OF_ROW(squares), value);
#else
#define NUMBERS_OF_ROW(step, SUM, LARGEST)                  \
  const float sign = value < 0.0f ? -1.0f : 1.0f;           \
  float largest, sum;                                       \
  LARGEST(largest, k, X(k, step) * sign)                    \
  const float center = largest * sign;                      \
  const float factor = value;                               \
  SUM(sum, k, tim_exp_float((X(k, step) - center) * value)) \
  const float rest = tim_log2_float(sum) * LN2;
#endif

// Lane l of the sum is item l's.
static inline float group_total(float of_lane, __local float* part) {
  const int lane = get_local_id(0);
  part[lane] = of_lane;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step_down = TIM_LANES / 2; step_down > 0; step_down /= 2) {
    if (lane < step_down) part[lane] += part[lane + step_down];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const float total = part[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return total;
}

static inline float group_largest(float of_lane, __local float* part) {
  const int lane = get_local_id(0);
  part[lane] = of_lane;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step_down = TIM_LANES / 2; step_down > 0; step_down /= 2) {
    if (lane < step_down && part[lane + step_down] > part[lane]) {
      part[lane] = part[lane + step_down];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const float largest = part[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return largest;
}

#define GROUP_SUM(sum, k, TERM)                                    \
  {                                                                \
    float of_lane = 0.0f;                                          \
    for (int k = lane; k < count; k += TIM_LANES) of_lane += TERM; \
    sum = group_total(of_lane, part);                              \
  }
#define GROUP_LARGEST(largest, k, TERM)             \
  {                                                 \
    float of_lane = -INFINITY;                      \
    for (int k = lane; k < count; k += TIM_LANES) { \
      const float term = TERM;                      \
      of_lane = term > of_lane ? term : of_lane;    \
    }                                               \
    largest = group_largest(of_lane, part);         \
  }
#define ITEM_SUM(sum, k, TERM) TIM_LANE_SUM(sum, count, k, TERM)
#define ITEM_LARGEST(largest, k, TERM)           \
  {                                              \
    largest = -INFINITY;                         \
    for (int k = 0; k < count; ++k) {            \
      const float term = TERM;                   \
      largest = term > largest ? term : largest; \
    }                                            \
  }

__kernel __attribute__((reqd_work_group_size(TIM_LANES, 1, 1))) void norm_group(
    __global const TIM_STORAGE(IN) * in, int in_offset,
    __global TIM_STORAGE(OUT) * out, int out_offset,
    OPERANDS_OF_SUM OPERANDS_OF_PARAMETERS int count, float inverse_count,
    float value, OPERANDS_OF_ACTIVATION float in_scale, int in_zero,
    float out_scale, float out_inverse, int out_zero) {
  __local float part[TIM_LANES];
  const int lane = get_local_id(0);
  const int row = get_group_id(0);
  in += in_offset + row * count;
  out += out_offset + row * count;
#ifdef SUMMAND
  summand += summand_offset + row % summand_rows * count;
  for (int i = lane; i < count; i += TIM_LANES) out[i] = in[i] + summand[i];
  barrier(CLK_GLOBAL_MEM_FENCE);
  in = out;
#endif
  START_OF_ROW(row)
  NUMBERS_OF_ROW(1, GROUP_SUM, GROUP_LARGEST)
  for (int i = lane; i < count; i += TIM_LANES) {
    const float normalized = NORMALIZED(X(i, 1));
    const float y = AFFINE(normalized, i);
    TIM_STORE_REAL(OUT, out, i, RESULT_OF(float, y), out_scale, out_inverse,
                   out_zero);
  }
}

__kernel void norm_items(__global const TIM_STORAGE(IN) * in, int in_offset,
                         __global TIM_STORAGE(OUT) * out, int out_offset,
                         OPERANDS_OF_PARAMETERS int count, int inner, int rows,
                         float inverse_count, float value,
                         OPERANDS_OF_ACTIVATION float in_scale, int in_zero,
                         float out_scale, float out_inverse, int out_zero) {
  const int row = get_global_id(0);
  if (row >= rows) return;
  const int begin = row / inner * inner * count + row % inner;
  in += in_offset + begin;
  out += out_offset + begin;
  START_OF_ROW(row)
  NUMBERS_OF_ROW(inner, ITEM_SUM, ITEM_LARGEST)
  for (int i = 0; i < count; ++i) {
    const float normalized = NORMALIZED(X(i, inner));
    const float y = AFFINE(normalized, i);
    TIM_STORE_REAL(OUT, out, i * inner, RESULT_OF(float, y), out_scale,
                   out_inverse, out_zero);
  }
}
