// Sums of the elements before each along an axis of a dense tensor [inner,
// count, outer], one addition after the other.  Input and output may be the
// same memory.
//   cumsum_row      inner is 1: one work-item makes one row
//   cumsum_columns  inner is at least 16: one work-item makes 16 * VECTORS
//                   neighbouring rows
//   cumsum_items    one work-item makes one row
//
// -DREVERSE    from the far end on
// -DEXCLUSIVE  without the element itself
// -DVECTORS=1
// others       see sums.clh

#include "ops/reduction/sums.clh"

#ifndef VECTORS
#define VECTORS 1
#endif

// Place of element i in the order of summation; of 16 elements the first.
#ifdef REVERSE
#define ALONG(i) (count - 1 - (i))
#define ALONG16(i) (count - 16 - (i))
#define LANE(j) (15 - (j))
#else
#define ALONG(i) (i)
#define ALONG16(i) (i)
#define LANE(j) (j)
#endif

// Adds x; what is stored for it.
#ifdef EXCLUSIVE
#define ADD_UP(result, sum, x) \
  result = sum;                \
  sum += x
#else
#define ADD_UP(result, sum, x) \
  sum += x;                    \
  result = sum
#endif

__kernel void cumsum_row(__global const TIM_STORAGE(IN) * in, int in_offset,
                         __global TIM_STORAGE(OUT) * out, int out_offset,
                         int count, int rows, RESULT_PARAMETERS) {
  const int row = get_global_id(0);
  if (row >= rows) return;
  in += in_offset + row * count;
  out += out_offset + row * count;
  SUM sum = 0;
  int i = 0;
  for (; i + 16 <= count; i += 16) {
    SUM lane[16];
    vstore16(READ16(ALONG16(i), 0), 0, lane);
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      const SUM x = lane[LANE(j)];
      ADD_UP(lane[LANE(j)], sum, x);
    }
    STORE16(ALONG16(i), vload16(0, lane));
  }
  for (; i < count; ++i) {
    const SUM x = READ(ALONG(i), 0);
    SUM result;
    ADD_UP(result, sum, x);
    STORE(ALONG(i), result);
  }
}

__kernel void cumsum_columns(__global const TIM_STORAGE(IN) * in, int in_offset,
                             __global TIM_STORAGE(OUT) * out, int out_offset,
                             int inner, int count, RESULT_PARAMETERS) {
  const int column = get_global_id(0) * (16 * VECTORS);
  if (column >= inner) return;
  const int first = get_global_id(1) * count * inner + column;
  in += in_offset + first;
  out += out_offset + first;
  if (column + 16 * VECTORS <= inner) {
    SUM16 sum[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) sum[v] = 0;
    for (int i = 0; i < count; ++i) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        const SUM16 x = READ16(ALONG(i) * inner + 16 * v, 0);
        SUM16 result;
        ADD_UP(result, sum[v], x);
        STORE16(ALONG(i) * inner + 16 * v, result);
      }
    }
    return;
  }
  int left = inner - column;
  for (; left >= 16; left -= 16) {
    SUM16 sum = 0;
    for (int i = 0; i < count; ++i) {
      const SUM16 x = READ16(ALONG(i) * inner, 0);
      SUM16 result;
      ADD_UP(result, sum, x);
      STORE16(ALONG(i) * inner, result);
    }
    in += 16;
    out += 16;
  }
  SUM sum[16];
  for (int k = 0; k < 16; ++k) sum[k] = 0;
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < left; ++k) {
      const SUM x = READ(ALONG(i) * inner + k, 0);
      SUM result;
      ADD_UP(result, sum[k], x);
      STORE(ALONG(i) * inner + k, result);
    }
  }
}

__kernel void cumsum_items(__global const TIM_STORAGE(IN) * in, int in_offset,
                           __global TIM_STORAGE(OUT) * out, int out_offset,
                           int inner, int count, int rows, RESULT_PARAMETERS) {
  const int row = get_global_id(0);
  if (row >= rows) return;
  const int image = row / inner;
  const int first = image * count * inner + row - image * inner;
  in += in_offset + first;
  out += out_offset + first;
  SUM sum = 0;
  for (int i = 0; i < count; ++i) {
    const SUM x = READ(ALONG(i) * inner, 0);
    SUM result;
    ADD_UP(result, sum, x);
    STORE(ALONG(i) * inner, result);
  }
}
