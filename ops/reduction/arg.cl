// The index of the first greatest (least) element along an axis of a dense
// tensor [inner, count, outer], by a strict comparison from element 0 on.  A
// chunk begins with element 0 of the whole axis, too: nothing beats a NaN
// there.
//   arg_row      inner is 1: one work-item looks at one chunk
//   arg_columns  inner is at least 16: one work-item looks at a chunk of 16
//                neighbours
//   arg_gather   one work-item looks at 16 chunks that lie anywhere
//   arg_join     one work-item makes one result of what the chunks have found
//
// -DIN=F32      element type of kernels/elements16.clh
// -DOUT=I32     the same of the indices, of I32 where they are of chunks
// -DVALUE=float  int, long or float: in which elements are compared
// -DARG=GREATEST  or LEAST

#include "kernels/elements16.clh"

#ifndef IN
#define IN F32
#endif
#ifndef OUT
#define OUT I32
#endif
#ifndef VALUE
#define VALUE float
#endif
#ifndef ARG
#define ARG GREATEST
#endif

#define VALUE16 TIM_PASTE(VALUE, 16)

#define BEATS(a, b) TIM_PASTE(BEATS_, ARG)(a, b)
#define BEATS_GREATEST(a, b) ((a) > (b))
#define BEATS_LEAST(a, b) ((a) < (b))

// Real values of float types, codes of the others.
#define READ(i) TIM_PASTE(READ_, VALUE)(i)
#define READ16(i) TIM_PASTE(READ16_, VALUE)(i)
#define READ_float(i) TIM_LOAD_REAL(IN, in, i, 1.0f, 0)
#define READ16_float(i) TIM_LOAD_REAL16(IN, in, i, 1.0f, 0)
#define READ_int(i) ((int)in[i])
#define READ16_int(i) convert_int16(TIM_VLOAD16(0, in + (i), TIM_STORAGE(IN)))
#define READ_long(i) ((long)in[i])
#define READ16_long(i) convert_long16(TIM_VLOAD16(0, in + (i), TIM_STORAGE(IN)))

__kernel void arg_row(__global const TIM_STORAGE(IN) * in, int in_offset,
                      __global TIM_STORAGE(OUT) * out, int out_offset,
                      int count, int chunks, int results, int chunk) {
  const int row = get_global_id(0);
  if (row >= results) return;
  const int image = row / chunks;
  const int done = (row - image * chunks) * chunk;
  const int end = min(count, done + chunk);
  in += in_offset + image * count;
  out += out_offset;
  const int16 lanes =
      (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  VALUE16 best = (VALUE16)(READ(0));
  int16 at = 0;
  int i = done;
  for (; i + 16 <= end; i += 16) {
    const VALUE16 x = READ16(i);
    at = convert_int16(BEATS(x, best)) ? lanes + i : at;
    best = BEATS(x, best) ? x : best;
  }
  VALUE value[16];
  int index[16];
  vstore16(best, 0, value);
  vstore16(at, 0, index);
  for (int j = 1; j < 16; ++j) {
    const bool earlier = value[j] == value[0] && index[j] < index[0];
    if (BEATS(value[j], value[0]) || earlier) {
      value[0] = value[j];
      index[0] = index[j];
    }
  }
  for (; i < end; ++i) {
    const VALUE x = READ(i);
    if (BEATS(x, value[0])) {
      value[0] = x;
      index[0] = i;
    }
  }
  TIM_STORE_CODE(OUT, out, row, (long)index[0]);
}

__kernel void arg_columns(__global const TIM_STORAGE(IN) * in, int in_offset,
                          __global TIM_STORAGE(OUT) * out, int out_offset,
                          int inner, int count, int chunks, int chunk) {
  const int column = get_global_id(0) * 16;
  const int row = get_global_id(1);
  if (column >= inner) return;
  const int image = row / chunks;
  const int done = (row - image * chunks) * chunk;
  const int end = min(count, done + chunk);
  // The last vector of a row begins where it ends at the row's end.
  const int first = min(column, inner - 16);
  in += in_offset + image * count * inner + first;
  out += out_offset + row * inner;
  VALUE16 best = READ16(0);
  int16 at = 0;
  for (int i = done; i < end; ++i) {
    const VALUE16 x = READ16(i * inner);
    at = convert_int16(BEATS(x, best)) ? (int16)(i) : at;
    best = BEATS(x, best) ? x : best;
  }
  if (first == column) {
    TIM_STORE_CODE16(OUT, out, column, convert_long16(at));
    return;
  }
  int index[16];
  vstore16(at, 0, index);
  for (int k = column; k < inner; ++k) {
    TIM_STORE_CODE(OUT, out, k, (long)index[k - first]);
  }
}

__kernel void arg_gather(__global const TIM_STORAGE(IN) * in, int in_offset,
                         __global TIM_STORAGE(OUT) * out, int out_offset,
                         int inner, int count, int chunks, int results,
                         int chunk) {
  const int first = get_global_id(0) * 16;
  in += in_offset;
  out += out_offset;
  for (int index = first; index < min(first + 16, results); ++index) {
    const int row = index / inner;
    const int image = row / chunks;
    const int done = (row - image * chunks) * chunk;
    const int end = min(count, done + chunk);
    const int begin = image * count * inner + index - row * inner;
    VALUE best = READ(begin);
    int at = 0;
    for (int i = done; i < end; ++i) {
      const VALUE x = READ(begin + i * inner);
      if (BEATS(x, best)) {
        best = x;
        at = i;
      }
    }
    TIM_STORE_CODE(OUT, out, index, (long)at);
  }
}

__kernel void arg_join(__global const TIM_STORAGE(IN) * in, int in_offset,
                       __global const int* found, int found_offset,
                       __global TIM_STORAGE(OUT) * out, int out_offset,
                       int inner, int count, int chunks, int results) {
  const int index = get_global_id(0);
  if (index >= results) return;
  const int image = index / inner;
  const int column = index - image * inner;
  in += in_offset + image * count * inner + column;
  found += found_offset + image * chunks * inner + column;
  int at = found[0];
  VALUE best = READ(at * inner);
  for (int c = 1; c < chunks; ++c) {
    const int other = found[c * inner];
    const VALUE x = READ(other * inner);
    if (BEATS(x, best)) {
      best = x;
      at = other;
    }
  }
  TIM_STORE_CODE(OUT, out, out_offset + index, (long)at);
}
