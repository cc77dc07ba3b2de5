// Joins the elements along an axis of a dense tensor [inner, count, outer], in
// the order of reduce_axes.h: in chunks of CHUNK, each in 16 lanes.  The result
// is [inner, chunks, outer], or, where there is one chunk, what the operator
// stores.
//   reduce_row      inner is 1: one work-item makes one chunk, whose lanes are
//                   those of a vector
//   reduce_rows     the same for 16 rows of a chunk each
//   reduce_columns  inner is at least 16: one work-item makes a chunk of 16 *
//                   VECTORS neighbours
//   reduce_narrow   inner is INNER, 2, 4 or 8: one work-item makes a chunk of
//                   all neighbours
//   reduce_gather   one work-item makes 16 chunks that lie anywhere
//
// -DJOIN=ADD    ADD, MULTIPLY, MIN or MAX (NaN where one is NaN)
// -DVALUE, -DFINISH and others  see sums.clh; also
//   VALUE=SQUARE   (real value - mean)^2, with -DMEANS
//   VALUE=PRODUCT  real value * factor, with -DFACTORS
// -DVECTORS=1
// -DINNER=2
// -DMEANS  mean[]: of element k, chunk of image o, at sum of (digit of o *
//          stride) + k; `axes` has rows {extent, stride}, fastest first
// -DFACTORS=EACH  factor[]: of element i along the axis, of image o, at
//                 i * factor_step + o % factor_images * factor_outer; EACH of
//                 the neighbours in a vector has its own, one after the other,
//                 or ONE is for all of them

#include "kernels/integers.clh"
#include "ops/reduction/sums.clh"

#ifndef JOIN
#define JOIN ADD
#endif
#ifndef VECTORS
#define VECTORS 1
#endif

#ifndef INNER
#define INNER 2
#endif

#define CHUNK 1024

// For T = SUM and SUM16.
#define JOINED(T, a, b) TIM_PASTE(JOINED_, JOIN)(T, a, b)
#define JOINED_ADD(T, a, b) ((a) + (b))
#define JOINED_MULTIPLY(T, a, b) TIM_PASTE(PRODUCT_, T)(a, b)
#define JOINED_MIN(T, a, b) ((((b) < (a)) | ((b) != (b))) ? (b) : (a))
#define JOINED_MAX(T, a, b) ((((b) > (a)) | ((b) != (b))) ? (b) : (a))
#define PRODUCT_float(a, b) ((a) * (b))
#define PRODUCT_float16(a, b) ((a) * (b))
#define PRODUCT_long(a, b) tim_integer_multiply_long(a, b)
#define PRODUCT_long16(a, b) tim_integer_multiply_long16(a, b)

#define IDENTITY TIM_PASTE(IDENTITY_, JOIN)
#define IDENTITY_ADD 0
#define IDENTITY_MULTIPLY 1
#define IDENTITY_MIN LIMIT_OF(GREATEST_, SUM)
#define IDENTITY_MAX LIMIT_OF(LEAST_, SUM)
#define LIMIT_OF(name, type) LIMIT_OF_(name, type)
#define LIMIT_OF_(name, type) name##type
#define GREATEST_float INFINITY
#define GREATEST_int INT_MAX
#define GREATEST_long LONG_MAX
#define LEAST_float (-INFINITY)
#define LEAST_int INT_MIN
#define LEAST_long LONG_MIN

#define READ_PRODUCT(i, factor) (READ_REAL(i, 0) * (factor))
#define READ16_PRODUCT(i, factor) (READ16_REAL(i, 0) * (factor))
#define READ_SQUARE(i, m) square(READ_REAL(i, m) - (m))
#define READ16_SQUARE(i, m) square16(READ16_REAL(i, m) - (m))

static inline float square(float d) { return d * d; }
static inline float16 square16(float16 d) { return d * d; }

// BESIDE(), BESIDE16(): the mean m, or factors, of neighbour k of element i
// along the axis, or of the 16 from it on.  GATHERED: the mean m, or element i
// of the factors from m on.
#ifdef MEANS
#define OPERANDS_BESIDE                                                  \
  __global const float *mean, int mean_offset, __global const int *axes, \
      int axes_offset, int axis_count,
#define SKIP_FACTORS(image, done)
#define BESIDE(m, i, k) (m)
#define BESIDE16(m, i, k) (m)
#define GATHERED(m, i) (m)
static inline int mean_of(__global const int* axes, int axis_count, int o) {
  int index = 0;
  for (int a = 0; a < axis_count; ++a) {
    const int extent = axes[2 * a];
    index += o % extent * axes[2 * a + 1];
    o /= extent;
  }
  return index;
}
#define MEANS_OF(image) \
  (mean + mean_offset + mean_of(axes + axes_offset, axis_count, image))
#elif defined(FACTORS)
#define ONE 0
#define EACH 1
#define OPERANDS_BESIDE                                             \
  __global const float *factor, int factor_offset, int factor_step, \
      int factor_outer, int factor_images,
#define FACTOR_PARAMETERS __global const float *factor, int factor_step,
#define FACTOR_ARGUMENTS factor, factor_step,
#define SKIP_FACTORS(image, done)                                    \
  factor += factor_offset + (image) % factor_images * factor_outer + \
            (done)*factor_step;
#define BESIDE(m, i, k) factor[(i)*factor_step + FACTORS * (k)]
#define GATHERED(m, i) factor[(m) + (i)*factor_step]
#if FACTORS == EACH
#define BESIDE16(m, i, k) TIM_VLOAD16(0, factor + (i)*factor_step + (k), float)
#else
#define BESIDE16(m, i, k) (float16)(factor[(i)*factor_step])
#endif
#else
#define OPERANDS_BESIDE
#define SKIP_FACTORS(image, done)
#define BESIDE(m, i, k) 0
#define BESIDE16(m, i, k) 0
#define GATHERED(m, i) 0
#endif

#ifndef FACTORS
#define FACTOR_PARAMETERS
#define FACTOR_ARGUMENTS
#endif

// Integers give the same in any order, unless products saturate.
#define FREE_float 0
#define FREE_int 1
#define FREE_long 1
#define FREE_ADD 1
#define FREE_MIN 1
#define FREE_MAX 1
#define FREE_MULTIPLY 0
#define ORDER_FREE (TIM_PASTE(FREE_, SUM) && TIM_PASTE(FREE_, JOIN))

#define LANE16 TIM_PASTE(LANE16_, SUM)  // Results of comparisons.
#define LANE16_float int16
#define LANE16_int int16
#define LANE16_long long16

// Runs of `length` need that many of the 16 lanes: a power of two.
static inline int lanes_of(int length) {
  return length > 8 ? 16 : length > 4 ? 8 : length > 2 ? 4 : length;
}

// Lanes 0 and 8, 1 and 9, ... are joined, then 0 and 4, ...
static inline SUM joined_lanes(SUM16 v) {
  const SUM16 eight = v.s89abcdef89abcdef;
  v = JOINED(SUM16, v, eight);
  const SUM16 four = v.s4567456745674567;
  v = JOINED(SUM16, v, four);
  const SUM16 two = v.s2323232323232323;
  v = JOINED(SUM16, v, two);
  return JOINED(SUM, v.s0, v.s1);
}

// Joins the first `length` elements of `in`; `left` of them may be read.
static inline SUM joined_row(__global const TIM_STORAGE(IN) * in, int length,
                             int left, float m,
                             FACTOR_PARAMETERS float in_scale, int in_zero) {
  SUM16 sum = IDENTITY;
  int i = 0;
  for (; i + 16 <= length; i += 16) {
    const SUM16 value = READ16(i, BESIDE16(m, i, 0));
    sum = JOINED(SUM16, sum, value);
  }
  if (i < length) {
    // Lanes beyond the row change nothing, whatever lies there.
    SUM16 value;
    if (i + 16 <= left) {
      const LANE16 lane =
          (LANE16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
      const SUM16 read = READ16(i, BESIDE16(m, i, 0));
      value = lane < (LANE16)(length - i) ? read : (SUM16)(IDENTITY);
    } else {
      SUM of_lane[16];
      for (int j = 0; j < 16; ++j) {
        of_lane[j] = IDENTITY;
        if (i + j < length) of_lane[j] = READ(i + j, BESIDE(m, i + j, 0));
      }
      value = vload16(0, of_lane);
    }
    sum = JOINED(SUM16, sum, value);
  }
  return joined_lanes(sum);
}

__kernel void reduce_row(__global const TIM_STORAGE(IN) * in, int in_offset,
                         OPERANDS_BESIDE __global TIM_STORAGE(OUT) * out,
                         int out_offset, int count, int chunks, int rows,
                         RESULT_PARAMETERS) {
  const int row = get_global_id(0);
  if (row >= rows) return;
  const int image = row / chunks;
  const int done = (row - image * chunks) * CHUNK;
  const int left = (rows / chunks - image) * count - done;
  in += in_offset + image * count + done;
  out += out_offset;
  SKIP_FACTORS(image, done)
#ifdef MEANS
  const float m = MEANS_OF(image)[0];
#else
  const float m = 0.0f;
#endif
#ifdef FACTORS
  const int read_beyond = 0;  // The factors may end with the row.
#else
  const int read_beyond = left;
#endif
  STORE(row, joined_row(in, min(count - done, CHUNK), read_beyond, m,
                        FACTOR_ARGUMENTS in_scale, in_zero));
}

#if !defined(MEANS) && !defined(FACTORS)
__kernel void reduce_rows(__global const TIM_STORAGE(IN) * in, int in_offset,
                          __global TIM_STORAGE(OUT) * out, int out_offset,
                          int count, int rows, RESULT_PARAMETERS) {
  const int first = get_global_id(0) * 16;
  if (first >= rows) return;
  const int here = min(16, rows - first);
  in += in_offset + first * count;
  out += out_offset;
  SUM of_row[16];
  for (int r = 0; r < here; ++r) {
    of_row[r] = joined_row(in + r * count, count, (rows - first - r) * count,
                           0.0f, in_scale, in_zero);
  }
  if (here == 16) {
    const SUM16 results = vload16(0, of_row);
    STORE16(first, results);
  } else {
    for (int r = 0; r < here; ++r) STORE(first + r, of_row[r]);
  }
}
#endif

__kernel void reduce_columns(__global const TIM_STORAGE(IN) * in, int in_offset,
                             OPERANDS_BESIDE __global TIM_STORAGE(OUT) * out,
                             int out_offset, int inner, int count, int chunks,
                             int rows, RESULT_PARAMETERS) {
  const int tiles = (inner - 1) / (16 * VECTORS) + 1;
  const int row = get_global_id(0) / tiles;
  if (row >= rows) return;
  const int column = (get_global_id(0) - row * tiles) * (16 * VECTORS);
  const int image = row / chunks;
  const int done = (row - image * chunks) * CHUNK;
  const int length = min(count - done, CHUNK);
  in += in_offset + (image * count + done) * inner;
  out += out_offset + row * inner;
  SKIP_FACTORS(image, done)
  // The last vector of a row begins where it ends at the row's end.
  int at[VECTORS];
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) at[v] = min(column + 16 * v, inner - 16);
#ifdef MEANS
  __global const float* const means = MEANS_OF(image);
  float16 m[VECTORS];
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) m[v] = TIM_VLOAD16(0, means + at[v], float);
#endif
#if ORDER_FREE
  const int lanes = 1;
#else
  const int lanes = lanes_of(length);
#endif
  SUM16 lane[ORDER_FREE ? 1 : 16][VECTORS];
  for (int j = 0; j < lanes; ++j) {
    SUM16 sum[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) sum[v] = IDENTITY;
    for (int i = j; i < length; i += ORDER_FREE ? 1 : 16) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        const SUM16 value = READ16(i * inner + at[v], BESIDE16(m[v], i, at[v]));
        sum[v] = JOINED(SUM16, sum[v], value);
      }
    }
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) lane[j][v] = sum[v];
  }
  for (int apart = lanes / 2; apart > 0; apart /= 2) {
    for (int j = 0; j < apart; ++j) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        lane[j][v] = JOINED(SUM16, lane[j][v], lane[j + apart][v]);
      }
    }
  }
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) {
    const int first = column + 16 * v;  // Those before it are another's.
    if (first == at[v]) {
      STORE16(first, lane[0][v]);
    } else if (first < inner) {
      SUM value[16];
      vstore16(lane[0][v], 0, value);
      for (int i = first; i < inner; ++i) STORE(i, value[i - at[v]]);
    }
  }
}

#ifndef MEANS
// Lane j of column k is element j % (16 / INNER) * INNER + k of vector
// j / (16 / INNER).
__kernel void reduce_narrow(__global const TIM_STORAGE(IN) * in, int in_offset,
                            OPERANDS_BESIDE __global TIM_STORAGE(OUT) * out,
                            int out_offset, int count, int chunks, int rows,
                            RESULT_PARAMETERS) {
  const int row = get_global_id(0);
  if (row >= rows) return;
  const int image = row / chunks;
  const int done = (row - image * chunks) * CHUNK;
  const int length = min(count - done, CHUNK);
  in += in_offset + (image * count + done) * INNER;
  out += out_offset + row * INNER;
  SKIP_FACTORS(image, done)
  SUM16 sum[INNER];
#pragma unroll
  for (int v = 0; v < INNER; ++v) sum[v] = IDENTITY;
  int i = 0;
  for (; i + 16 <= length; i += 16) {
#pragma unroll
    for (int v = 0; v < INNER; ++v) {
      const SUM16 value = READ16(i * INNER + 16 * v, BESIDE16(0, i, 16 * v));
      sum[v] = JOINED(SUM16, sum[v], value);
    }
  }
  SUM lane[16 * INNER];
#pragma unroll
  for (int v = 0; v < INNER; ++v) vstore16(sum[v], v, lane);
  for (int j = 0; i * INNER + j < length * INNER; ++j) {
    const SUM value = READ(i * INNER + j, BESIDE(0, i, j));
    lane[j] = JOINED(SUM, lane[j], value);
  }
  for (int apart = 8 * INNER; apart >= INNER; apart /= 2) {
    for (int j = 0; j < apart; ++j) {
      lane[j] = JOINED(SUM, lane[j], lane[j + apart]);
    }
  }
  for (int k = 0; k < INNER; ++k) STORE(k, lane[k]);
}
#endif

__kernel void reduce_gather(__global const TIM_STORAGE(IN) * in, int in_offset,
                            OPERANDS_BESIDE __global TIM_STORAGE(OUT) * out,
                            int out_offset, int inner, int count, int chunks,
                            int results, RESULT_PARAMETERS) {
  const int first = get_global_id(0) * 16;
  if (first >= results) return;
  in += in_offset;
  out += out_offset + first;
  SKIP_FACTORS(0, 0)
  int begin[16];
  int length[16];
#ifdef MEANS
  float m[16];
#elif defined(FACTORS)
  int m[16];
#endif
  int longest = 0;
  for (int k = 0; k < 16; ++k) {
    const int index = min(first + k, results - 1);
    const int row = index / inner;
    const int image = row / chunks;
    const int done = (row - image * chunks) * CHUNK;
    const int column = index - row * inner;
    begin[k] = (image * count + done) * inner + column;
    length[k] = min(count - done, CHUNK);
    longest = max(longest, length[k]);
#ifdef MEANS
    m[k] = MEANS_OF(image)[column];
#elif defined(FACTORS)
    m[k] = image % factor_images * factor_outer + done * factor_step +
           FACTORS * column;
#endif
  }
  SUM16 lane[16];
  const int lanes = lanes_of(longest);
  for (int j = 0; j < lanes; ++j) {
    SUM sum[16];
    for (int k = 0; k < 16; ++k) sum[k] = IDENTITY;
    for (int i = j; i < longest; i += 16) {
      for (int k = 0; k < 16; ++k) {
        if (i < length[k]) {
          const SUM value = READ(begin[k] + i * inner, GATHERED(m[k], i));
          sum[k] = JOINED(SUM, sum[k], value);
        }
      }
    }
    lane[j] = vload16(0, sum);
  }
  for (int apart = lanes / 2; apart > 0; apart /= 2) {
    for (int j = 0; j < apart; ++j) {
      lane[j] = JOINED(SUM16, lane[j], lane[j + apart]);
    }
  }
  SUM value[16];
  vstore16(lane[0], 0, value);
  for (int k = 0; k < min(results - first, 16); ++k) STORE(k, value[k]);
}
