// Rows of neighbouring elements that indices choose:
//   y[((b * middle + m) * count + j) * run + i] =
//       x[b * batch_stride + m * middle_stride + place(b * count + j) + i]
// where place is that of ops/indexing/indices.clh.  A row whose coordinate is
// ignored gets elements of the bits `missing`.
// One work-item makes `tile_rows` rows, or `chunk` elements of one.
//
// -Ds: see ops/elements/convert.clh, ops/elements/fill_row.clh,
// ops/indexing/indices.clh

#include "ops/elements/convert_row.clh"
#include "ops/elements/fill_row.clh"
#include "ops/indexing/indices.clh"

__kernel void indexed_rows(__global const TIM_STORAGE(IN0) * x, int x_offset,
                           __global const TIM_STORAGE(INDEX) * indices,
                           int indices_offset, __global TIM_STORAGE(OUT) * y,
                           int y_offset, __global const int* coordinate,
                           int coordinate_offset, int coordinate_length,
                           int rows, int run, int count, int middle,
                           int middle_stride, int batch_stride, int tile_rows,
                           int chunk, long missing, float index_scale,
                           int index_zero, TIM_CONVERT_PARAMETERS) {
  const int chunks = (run - 1) / chunk + 1;
  const int tile = get_global_id(0) / chunks;
  const int first = (get_global_id(0) - tile * chunks) * chunk;
  if (tile > (rows - 1) / tile_rows) return;
  const int begin = tile * tile_rows;
  const int end = begin + min(tile_rows, rows - begin);
  const int n = min(chunk, run - first);
  int j = begin % count;
  int m = begin / count % middle;
  int b = begin / count / middle;
  x += x_offset + first;
  indices += indices_offset;
  y += y_offset + begin * run + first;
  coordinate += coordinate_offset;
  for (int row = begin; row < end; ++row) {
    const int place =
        tim_index_place(indices, b * count + j, coordinate, coordinate_length,
                        index_scale, index_zero);
    if (place < 0) {
      tim_fill_row((__global TIM_STORAGE(WORD)*)y, n,
                   (TIM_STORAGE(WORD))missing);
    } else {
      tim_convert_row(y, x + b * batch_stride + m * middle_stride + place, n,
                      x_scale, x_zero, y_scale, y_inverse, y_zero);
    }
    y += run;
    if (++j < count) continue;
    j = 0;
    if (++m < middle) continue;
    m = 0;
    ++b;
  }
}
