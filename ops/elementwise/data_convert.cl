// Rows of elements in another type or quantization:
//   y[row * y_stride + i] = x[row * x_stride + i],  0 <= i < run.
// DataConvert and Reshape are one row; Concat places each input with y_stride
// and the start of its part, y_start.  Flat in memory, whatever the layout.
// One work-item converts `piece` elements of a row, a multiple of 16.
//
// -Ds: see ops/elements/convert.clh

#include "ops/elements/convert.clh"

__kernel void data_convert(__global const TIM_STORAGE(IN0) * x, int x_offset,
                           __global TIM_STORAGE(OUT) * y, int y_offset,
                           int rows, int run, int x_stride, int y_stride,
                           int y_start, int piece, TIM_CONVERT_PARAMETERS) {
  const int items_per_row = (run - 1) / piece + 1;
  const int row = get_global_id(0) / items_per_row;
  if (row >= rows) return;
  const int first = (get_global_id(0) - row * items_per_row) * piece;
  const int last = first + min(piece, run - first);
  x += x_offset + row * x_stride;
  y += y_offset + row * y_stride + y_start;
  int i = first;
  for (; i + 16 <= last; i += 16) TIM_CONVERT16(y, i, x, i);
  for (; i < last; ++i) TIM_CONVERT(y, i, x, i);
}
