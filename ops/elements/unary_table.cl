// Any unary operator on 8-bit elements, or a conversion of them, whose table of
// 256 results the host makes with eval.
//   unary_table   y[y_start + row * y_stride + i] = table[x[row * run + i]];
//   one
//                 row is flat over all elements in memory
//   unary_limits  y[i] = clamp(x[i], low, high), which is what some tables say
// One work-item computes `piece` consecutive elements, a multiple of 16.
//
// -DT=uchar  unsigned type of the size of an output element; of unary_limits
//            the type of codes, char or uchar

#include "kernels/bytes/table.clh"
#include "kernels/memory16.clh"
#include "kernels/paste.clh"

#ifndef T
#define T uchar
#endif

#define LOOK_UP TIM_PASTE(TIM_LOOK_UP_, T)

__kernel void unary_table(__global const uchar* x, int x_offset, __global T* y,
                          int y_offset, __global const T* table,
                          int table_offset, int rows, int run, int y_stride,
                          int y_start, int piece) {
  const int items_per_row = (run - 1) / piece + 1;
  const int row = get_global_id(0) / items_per_row;
  if (row >= rows) return;
  const int first = (get_global_id(0) - row * items_per_row) * piece;
  x += x_offset + row * run + first;
  y += y_offset + y_start + row * y_stride + first;
  table += table_offset;
  const int count = min(piece, run - first);
  for (int i = LOOK_UP(x, y, table, count); i < count; ++i) {
    y[i] = table[x[i]];
  }
}

#define T_OF_16 TIM_PASTE(T, 16)

__kernel void unary_limits(__global const T* x, int x_offset, __global T* y,
                           int y_offset, int low, int high, int n, int piece) {
  const int first = get_global_id(0) * piece;
  if (first >= n) return;
  x += x_offset + first;
  y += y_offset + first;
  const int count = min(piece, n - first);
  int i = 0;
  for (; i + 16 <= count; i += 16) {
    TIM_VSTORE16(
        clamp(TIM_VLOAD16(0, x + i, T), (T_OF_16)((T)low), (T_OF_16)((T)high)),
        0, y + i, T);
  }
  for (; i < count; ++i) y[i] = clamp(x[i], (T)low, (T)high);
}
