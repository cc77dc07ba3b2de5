// Rows normalised by numbers of their own; ops/normalization/norm_rows.h has
// the formulas and their order, which this keeps: the same bits as eval.
//
// Dense tensors.  `count` elements lie along a row.
//   norm_row    rows one after the other: one work-item makes one row
//   norm_lanes  one work-item makes 16 rows at once: row r of slice s starts at
//               s * slice_step + r * row_step, its elements are `stride` apart
//
// -DKIND=MOMENTS      or L2 or LOG_SOFTMAX or RMS
// -DPARAMETERS=0      0 no beta and gamma; else those of row r (of all slices)
//                     and element k are at k * step + the strides of the axes
//                     {extent, beta stride, gamma stride} that r counts: 1 the
//                     strides are 0, 2 the steps are 0, 3 neither
// -DSUMMAND           rows are sums, of float32: row r of `in` and row
//                     r % summand_rows of `summand`, stored in `out` first
//                     (norm_row)
// -DACTIVATED         results go through TIM_ACTIVATE of kernels/activate.clh
// -DBLOCKED           rows are the lanes of channel blocks (norm_lanes): those
//                     from `channels` on become the real value 0
// -DIN=F32 -DOUT=F32 -DBETA=F32 -DGAMMA=F32  types of kernels/elements16.clh

#include "kernels/elements16.clh"
#include "ops/normalization/lanes.clh"
#include "ops/normalization/norm_rows.clh"

// What a row's elements become depends on these.
typedef struct {
  float center;
  float rest;
  float factor;
} row_numbers;
typedef struct {
  float16 center;
  float16 rest;
  float16 factor;
} lane_numbers;

static inline float16 factors_of(float16 squares, float value) {
  float lanes[16];
  vstore16(squares, 0, lanes);
  for (int j = 0; j < 16; ++j) lanes[j] = factor_of(lanes[j], value);
  return vload16(0, lanes);
}

#if KIND == MOMENTS
#define NORMALIZED(x, n) ((((x) - (n).center) - (n).rest) * (n).factor)
#elif KIND == L2 || KIND == RMS
#define NORMALIZED(x, n) ((x) * (n).factor)
#else
#define NORMALIZED(x, n) (((x) - (n).center) * (n).factor - (n).rest)
#endif

// BODY for each 16 elements x of the row, j telling which of the four parts of
// the lanes they belong to: first those of whole rounds, then, in memory and
// not in registers, the rest; elements beyond the row are FILL.
#define EACH_OF_ROUNDS(BODY)                                              \
  for (int i = 0; i + TIM_LANES <= count; i += TIM_LANES) {               \
    _Pragma("unroll") for (int j = 0; j < 4; ++j) {                       \
      const float16 x = TIM_LOAD_REAL16(IN, in, i + 16 * j, scale, zero); \
      BODY                                                                \
    }                                                                     \
  }
#define EACH_OF_REST(FILL, BODY)                                           \
  for (int j = 0, i = count / TIM_LANES * TIM_LANES; i < count; ++j) {     \
    const float16 x = load_lanes(in + i, 1, count - i, FILL, scale, zero); \
    BODY i += 16;                                                          \
  }
// The float `sum` becomes the sum of TERM over all elements.
#define SUM_OF_ROW(sum, FILL, TERM)               \
  {                                               \
    float16 rounds[4] = {0.0f, 0.0f, 0.0f, 0.0f}; \
    EACH_OF_ROUNDS(rounds[j] += TERM;)            \
    float16 v[4];                                 \
    for (int j = 0; j < 4; ++j) v[j] = rounds[j]; \
    EACH_OF_REST(FILL, v[j] += TERM;)             \
    sum = tim_lane_total(v);                      \
  }

static inline row_numbers numbers_of_row(__global const TIM_STORAGE(IN) * in,
                                         int count, float inverse_count,
                                         float value, float scale, int zero) {
  row_numbers n = {0.0f, 0.0f, value};
#if KIND == MOMENTS
  const float first = TIM_LOAD_REAL(IN, in, 0, scale, zero);
  float total;
  SUM_OF_ROW(total, first, x - first)
  n.center = first + total * inverse_count;
  float16 sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  float16 squares[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  EACH_OF_ROUNDS(const float16 d = x - n.center; sums[j] += d;
                 squares[j] += d * d;)
  float16 v[4], w[4];
  for (int j = 0; j < 4; ++j) {
    v[j] = sums[j];
    w[j] = squares[j];
  }
  EACH_OF_REST(n.center, const float16 d = x - n.center; v[j] += d;
               w[j] += d * d;)
  n.rest = tim_lane_total(v) * inverse_count;
  n.factor =
      factor_of(tim_lane_total(w) * inverse_count - n.rest * n.rest, value);
#elif KIND == L2 || KIND == RMS
  float total;
  SUM_OF_ROW(total, 0.0f, x * x)
  n.factor = factor_of(MEAN_OF_ROW(total), value);
#else
  const int16 index =
      (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const float sign = value < 0.0f ? -1.0f : 1.0f;
  float16 largest = -INFINITY;
  EACH_OF_ROUNDS(largest = x * sign > largest ? x * sign : largest;)
  EACH_OF_REST(-INFINITY * sign,
               largest = x * sign > largest ? x * sign : largest;)
  float lanes[16];
  vstore16(largest, 0, lanes);
  for (int j = 1; j < 16; ++j) {
    lanes[0] = lanes[j] > lanes[0] ? lanes[j] : lanes[0];
  }
  n.center = lanes[0] * sign;
  float total;
  SUM_OF_ROW(total, n.center,
             i + index < count ? tim_exp_float16((x - n.center) * value)
                               : (float16)(0.0f))
  n.rest = tim_log2_float(total) * LN2;
#endif
  return n;
}

// BODY for each element k of 16 rows, which are the lanes of x.
#define EACH_OF_LANES(BODY)                                              \
  for (int k = 0; k < count; ++k) {                                      \
    const float16 x =                                                    \
        load_lanes(in + k * stride, row_step, lanes, 0.0f, scale, zero); \
    BODY                                                                 \
  }
#define CLEAR(sums) \
  for (int l = 0; l < min(count, TIM_LANES); ++l) sums[l] = 0.0f;

static inline lane_numbers numbers_of_lanes(__global const TIM_STORAGE(IN) * in,
                                            int count, int stride, int row_step,
                                            int lanes, float inverse_count,
                                            float value, float scale,
                                            int zero) {
  lane_numbers n = {0.0f, 0.0f, value};
  float16 sums[TIM_LANES];
  CLEAR(sums)
#if KIND == MOMENTS
  const float16 first = load_lanes(in, row_step, lanes, 0.0f, scale, zero);
  EACH_OF_LANES(sums[k % TIM_LANES] += x - first;)
  n.center = first + tim_lane_totals16(sums, count) * inverse_count;
  float16 squares[TIM_LANES];
  CLEAR(sums)
  CLEAR(squares)
  EACH_OF_LANES(const float16 d = x - n.center; sums[k % TIM_LANES] += d;
                squares[k % TIM_LANES] += d * d;)
  n.rest = tim_lane_totals16(sums, count) * inverse_count;
  n.factor = factors_of(
      tim_lane_totals16(squares, count) * inverse_count - n.rest * n.rest,
      value);
#elif KIND == L2 || KIND == RMS
  EACH_OF_LANES(sums[k % TIM_LANES] += x * x;)
  n.factor = factors_of(MEAN_OF_ROW(tim_lane_totals16(sums, count)), value);
#else
  const float sign = value < 0.0f ? -1.0f : 1.0f;
  float16 largest = -INFINITY;
  EACH_OF_LANES(largest = x * sign > largest ? x * sign : largest;)
  n.center = largest * sign;
  EACH_OF_LANES(sums[k % TIM_LANES] += tim_exp_float16((x - n.center) * value);)
  n.rest = tim_log2_float16(tim_lane_totals16(sums, count)) * LN2;
#endif
  return n;
}

#if PARAMETERS
// Where the parameters of a row begin: beta's .x, gamma's .y.
static inline int2 start_of_row(__global const int* axes, int axes_count,
                                int row) {
  int2 start = (int2)(0);
  for (int axis = 0; axis < axes_count; ++axis) {
    const int at = row % axes[3 * axis];
    row /= axes[3 * axis];
    start += at * (int2)(axes[3 * axis + 1], axes[3 * axis + 2]);
  }
  return start;
}

// `lanes` elements of `p`, 0 behind them.
#define RETURN_PARAMETER16(T, p, step, lanes)                               \
  {                                                                         \
    if (lanes >= 16 && step == 1) return TIM_LOAD_REAL16(T, p, 0, 1.0f, 0); \
    float x[16];                                                            \
    for (int j = 0; j < 16; ++j) {                                          \
      x[j] = 0.0f;                                                          \
      if (j < lanes) x[j] = TIM_LOAD_REAL(T, p, j * step, 1.0f, 0);         \
    }                                                                       \
    return vload16(0, x);                                                   \
  }
static inline float16 load_beta(__global const TIM_STORAGE(BETA) * p, int step,
                                int lanes) {
  RETURN_PARAMETER16(BETA, p, step, lanes)
}
static inline float16 load_gamma(__global const TIM_STORAGE(GAMMA) * p,
                                 int step, int lanes) {
  RETURN_PARAMETER16(GAMMA, p, step, lanes)
}

#define LOAD_BETA(i) TIM_LOAD_REAL(BETA, beta, i, 1.0f, 0)
#define LOAD_GAMMA(i) TIM_LOAD_REAL(GAMMA, gamma, i, 1.0f, 0)
#endif

#if PARAMETERS == 0
#define SCALED(y, i, lanes, beta_step, gamma_step) (y)
#elif PARAMETERS == 2
#define SCALED(y, i, lanes, beta_step, gamma_step) \
  ADD_BETA((y)*LOAD_GAMMA(0), LOAD_BETA(0))
#else
#define SCALED(y, i, lanes, beta_step, gamma_step)                    \
  ADD_BETA((y)*load_gamma(gamma + (i)*gamma_step, gamma_step, lanes), \
           load_beta(beta + (i)*beta_step, beta_step, lanes))
#endif
// Elements i to i + lanes of a row; those of constant 16 are vectors.
#define NORMALIZE16(i, lanes, beta_step, gamma_step)                         \
  {                                                                          \
    const float16 x = load_lanes(in + i, 1, lanes, 0.0f, in_scale, in_zero); \
    const float16 y =                                                        \
        SCALED(NORMALIZED(x, n), i, lanes, beta_step, gamma_step);           \
    store_lanes(RESULT_OF(float16, y), out + i, 1, lanes, out_scale,         \
                out_inverse, out_zero);                                      \
  }

__kernel void norm_row(__global const TIM_STORAGE(IN) * in, int in_offset,
                       __global TIM_STORAGE(OUT) * out, int out_offset,
                       OPERANDS_OF_SUM OPERANDS_OF_PARAMETERS int count,
                       int rows, float inverse_count, float value,
                       OPERANDS_OF_ACTIVATION float in_scale, int in_zero,
                       float out_scale, float out_inverse, int out_zero) {
  const int row = get_global_id(0);
  if (row >= rows) return;
  in += in_offset + row * count;
  out += out_offset + row * count;
#ifdef SUMMAND
  summand += summand_offset + row % summand_rows * count;
  int s = 0;
  for (; s + 16 <= count; s += 16) {
    const float16 sum =
        TIM_VLOAD16(0, in + s, float) + TIM_VLOAD16(0, summand + s, float);
    TIM_VSTORE16(sum, 0, out + s, float);
  }
  for (; s < count; ++s) out[s] = in[s] + summand[s];
  in = out;
#endif
#if PARAMETERS
  beta += beta_offset;
  gamma += gamma_offset;
#if PARAMETERS != 1
  const int2 start = start_of_row(axes + axes_offset, axes_count, row);
  beta += start.x;
  gamma += start.y;
#endif
#endif
  const row_numbers n =
      numbers_of_row(in, count, inverse_count, value, in_scale, in_zero);
  int i = 0;
#if PARAMETERS == 0 || PARAMETERS == 2
  for (; i + 16 <= count; i += 16) NORMALIZE16(i, 16, 0, 0)
  if (i < count) NORMALIZE16(i, count - i, 0, 0)
#else
  if (beta_step == 1 && gamma_step == 1) {
    for (; i + 16 <= count; i += 16) NORMALIZE16(i, 16, 1, 1)
  }
  for (; i < count; i += 16) NORMALIZE16(i, count - i, beta_step, gamma_step)
#endif
}

__kernel void norm_lanes(__global const TIM_STORAGE(IN) * in, int in_offset,
                         __global TIM_STORAGE(OUT) * out, int out_offset,
                         OPERANDS_OF_PARAMETERS int count, int rows, int stride,
                         int row_step, int slice_step,
#ifdef BLOCKED
                         int channels,
#endif
                         float inverse_count, float value,
                         OPERANDS_OF_ACTIVATION float in_scale, int in_zero,
                         float out_scale, float out_inverse, int out_zero) {
  const int row = get_global_id(0) * 16;
  if (row >= rows) return;
  const int slice = get_global_id(1);
  const int begin = slice * slice_step + row * row_step;
  in += in_offset + begin;
  out += out_offset + begin;
#ifdef BLOCKED
  const int lanes = channels - slice * 16 % axes[axes_offset];
#else
  const int lanes = rows - row;
#endif
#if PARAMETERS
  beta += beta_offset;
  gamma += gamma_offset;
#if PARAMETERS != 1
  int beta_at[16];
  int gamma_at[16];
  float beta_lane[16];
  float gamma_lane[16];
  for (int j = 0; j < 16; ++j) {
    const int of_row = slice * rows + row + min(j, lanes - 1);
    const int2 start = start_of_row(axes + axes_offset, axes_count, of_row);
    beta_at[j] = start.x;
    gamma_at[j] = start.y;
    beta_lane[j] = LOAD_BETA(start.x);
    gamma_lane[j] = LOAD_GAMMA(start.y);
  }
  float16 beta16 = vload16(0, beta_lane);
  float16 gamma16 = vload16(0, gamma_lane);
#endif
#endif
  const lane_numbers n =
      numbers_of_lanes(in, count, stride, row_step, lanes, inverse_count, value,
                       in_scale, in_zero);
  for (int k = 0; k < count; ++k) {
    const int at = k * stride;
    const float16 x =
        load_lanes(in + at, row_step, lanes, 0.0f, in_scale, in_zero);
    float16 y = NORMALIZED(x, n);
#if PARAMETERS == 1
    y = ADD_BETA(y * LOAD_GAMMA(k * gamma_step), LOAD_BETA(k * beta_step));
#elif PARAMETERS
#if PARAMETERS == 3
    for (int j = 0; j < 16; ++j) {
      beta_lane[j] = LOAD_BETA(beta_at[j] + k * beta_step);
      gamma_lane[j] = LOAD_GAMMA(gamma_at[j] + k * gamma_step);
    }
    beta16 = vload16(0, beta_lane);
    gamma16 = vload16(0, gamma_lane);
#endif
    y = ADD_BETA(y * gamma16, beta16);
#endif
    y = RESULT_OF(float16, y);
#ifdef BLOCKED
    const int16 index =
        (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    y = index < lanes ? y : (float16)(0.0f);
    store_lanes(y, out + at, 1, 16, out_scale, out_inverse, out_zero);
#else
    store_lanes(y, out + at, row_step, lanes, out_scale, out_inverse, out_zero);
#endif
  }
}
