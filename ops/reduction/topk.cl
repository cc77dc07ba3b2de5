// The k greatest elements along an axis of a dense tensor [inner, count, outer]
// in descending order, and their indices.  Of equal elements the first comes
// first; NaN is greater than every number.
//   topk_row      inner is 1: one work-item makes one row
//   topk_columns  one work-item makes 16 neighbouring rows
//
// The k greatest so far are a heap whose root is the last of them: `keys`,
// which are ordered as elements are, and `places`, their indices.  What does
// not beat the root is passed by, 16 elements at a time.
//
// -DIN=F32     element type of kernels/elements16.clh
// -DINDEX=I32  the same of the indices
// -DVALUE=float  int or long for codes, float for float types
// -DIN0, -DOUT, -DRULE  how values are stored: ops/elements/convert.clh

#include "ops/elements/convert.clh"

#ifndef IN
#define IN F32
#endif
#ifndef INDEX
#define INDEX I32
#endif
#ifndef VALUE
#define VALUE float
#endif

#define KEY TIM_PASTE(KEY_, VALUE)
#define KEY_float int
#define KEY_int int
#define KEY_long long
#define KEY16 TIM_PASTE(KEY16_, VALUE)
#define KEY16_float int16
#define KEY16_int int16
#define KEY16_long long16

#define READ(i) TIM_PASTE(READ_, VALUE)(i)
#define READ16(i) TIM_PASTE(READ16_, VALUE)(i)
#define READ_float(i) order_of(TIM_LOAD_REAL(IN, in, i, 1.0f, 0))
#define READ16_float(i) order16_of(TIM_LOAD_REAL16(IN, in, i, 1.0f, 0))
#define READ_int(i) ((int)in[i])
#define READ16_int(i) convert_int16(TIM_VLOAD16(0, in + (i), TIM_STORAGE(IN)))
#define READ_long(i) ((long)in[i])
#define READ16_long(i) convert_long16(TIM_VLOAD16(0, in + (i), TIM_STORAGE(IN)))

// Integers ordered as the numbers are; 0 and -0 are equal.
static inline int order_of(float x) {
  const int bits = x == 0.0f ? 0 : as_int(x);
  return x != x ? INT_MAX : bits ^ ((bits >> 31) & INT_MAX);
}

static inline int16 order16_of(float16 x) {
  const int16 bits = x == 0.0f ? (int16)(0) : as_int16(x);
  return x != x ? (int16)(INT_MAX) : bits ^ ((bits >> 31) & INT_MAX);
}

// Whether a at place i comes after b at place j.
static inline bool comes_after(KEY a, int i, KEY b, int j) {
  return a < b || (a == b && i > j);
}

// Puts an element into the heap at `at` or below, where both sons are heaps.
static inline void sift(__global KEY* keys, __global int* places, int size,
                        int at, KEY key, int place) {
  for (int son = 2 * at + 1; son < size; son = 2 * at + 1) {
    if (son + 1 < size &&
        comes_after(keys[son + 1], places[son + 1], keys[son], places[son])) {
      ++son;
    }
    if (!comes_after(keys[son], places[son], key, place)) break;
    keys[at] = keys[son];
    places[at] = places[son];
    at = son;
  }
  keys[at] = key;
  places[at] = place;
}

// A heap of the first `size` elements, `stride` apart.
static inline void begin_heap(__global const TIM_STORAGE(IN) * in, int stride,
                              __global KEY* keys, __global int* places,
                              int size) {
  for (int i = 0; i < size; ++i) {
    keys[i] = READ(i * stride);
    places[i] = i;
  }
  for (int i = size / 2 - 1; i >= 0; --i) {
    sift(keys, places, size, i, keys[i], places[i]);
  }
}

// In place of the root where it beats it; later elements lose against equals.
static inline void offer(__global KEY* keys, __global int* places, int size,
                         KEY key, int place) {
  if (key > keys[0]) sift(keys, places, size, 0, key, place);
}

// The heap in order: the root, which comes last, goes to the end.
static inline void end_heap(__global KEY* keys, __global int* places,
                            int size) {
  for (int last = size - 1; last > 0; --last) {
    const KEY key = keys[last];
    const int place = places[last];
    keys[last] = keys[0];
    places[last] = places[0];
    sift(keys, places, last, 0, key, place);
  }
}

static inline void store_heap(__global const TIM_STORAGE(IN) * in, int stride,
                              __global TIM_STORAGE(OUT) * values,
                              __global TIM_STORAGE(INDEX) * indices,
                              __global const int* places, int size,
                              TIM_CONVERT_PARAMETERS) {
  __global const TIM_STORAGE(IN0)* const from =
      (__global const TIM_STORAGE(IN0)*)in;
  for (int i = 0; i < size; ++i) {
    TIM_CONVERT(values, i * stride, from, places[i] * stride);
    TIM_STORE_CODE(INDEX, indices, i * stride, (long)places[i]);
  }
}

__kernel void topk_row(__global const TIM_STORAGE(IN) * in, int in_offset,
                       __global TIM_STORAGE(OUT) * values, int values_offset,
                       __global TIM_STORAGE(INDEX) * indices,
                       int indices_offset, __global KEY* keys, int keys_offset,
                       __global int* places, int places_offset, int count,
                       int k, int rows, TIM_CONVERT_PARAMETERS) {
  const int row = get_global_id(0);
  if (row >= rows) return;
  in += in_offset + row * count;
  keys += keys_offset + row * k;
  places += places_offset + row * k;
  begin_heap(in, 1, keys, places, k);
  int i = k;
  for (; i + 64 <= count; i += 64) {
    const KEY16 root = (KEY16)(keys[0]);
    if (!any((READ16(i) > root) | (READ16(i + 16) > root) |
             (READ16(i + 32) > root) | (READ16(i + 48) > root))) {
      continue;
    }
    for (int j = i; j < i + 64; ++j) offer(keys, places, k, READ(j), j);
  }
  for (; i < count; ++i) offer(keys, places, k, READ(i), i);
  end_heap(keys, places, k);
  store_heap(in, 1, values + values_offset + row * k,
             indices + indices_offset + row * k, places, k, x_scale, x_zero,
             y_scale, y_inverse, y_zero);
}

__kernel void topk_columns(__global const TIM_STORAGE(IN) * in, int in_offset,
                           __global TIM_STORAGE(OUT) * values,
                           int values_offset,
                           __global TIM_STORAGE(INDEX) * indices,
                           int indices_offset, __global KEY* keys,
                           int keys_offset, __global int* places,
                           int places_offset, int inner, int count, int k,
                           TIM_CONVERT_PARAMETERS) {
  const int column = get_global_id(0) * 16;
  const int image = get_global_id(1);
  if (column >= inner) return;
  const int lanes = min(inner - column, 16);
  in += in_offset + image * count * inner + column;
  keys += keys_offset + (image * inner + column) * k;
  places += places_offset + (image * inner + column) * k;
  KEY root[16];
  for (int lane = 0; lane < 16; ++lane) {
    const int other = min(lane, lanes - 1);
    if (lane == other) {
      begin_heap(in + lane, inner, keys + lane * k, places + lane * k, k);
    }
    root[lane] = keys[other * k];
  }
  for (int i = k; i < count; ++i) {
    if (lanes == 16 && !any(READ16(i * inner) > vload16(0, root))) continue;
    for (int lane = 0; lane < lanes; ++lane) {
      const KEY key = READ(i * inner + lane);
      if (key > root[lane]) {
        offer(keys + lane * k, places + lane * k, k, key, i);
        root[lane] = keys[lane * k];
      }
    }
  }
  for (int lane = 0; lane < lanes; ++lane) {
    end_heap(keys + lane * k, places + lane * k, k);
    const int to = image * k * inner + column + lane;
    store_heap(in + lane, inner, values + values_offset + to,
               indices + indices_offset + to, places + lane * k, k, x_scale,
               x_zero, y_scale, y_inverse, y_zero);
  }
}
