// Elements chosen by indices along one axis, where y and the indices are
// [run, count, ...] and x is [..., extent, ...] with outer_stride elements for
// each of the slowest:
//   y[i + run * (n + count * o)] = x[i + place + outer_stride * o]
// where place is that of ops/indexing/indices.clh for the index at y's place.
// One work-item makes 16 elements.
//
// -Ds: see ops/elements/convert.clh, ops/indexing/indices.clh

#include "ops/elements/convert.clh"
#include "ops/indexing/indices.clh"

__kernel void gather_elements(__global const TIM_STORAGE(IN0) * x, int x_offset,
                              __global const TIM_STORAGE(INDEX) * indices,
                              int indices_offset, __global TIM_STORAGE(OUT) * y,
                              int y_offset, __global const int* coordinate,
                              int coordinate_offset, int total, int run,
                              int count, int outer_stride, float index_scale,
                              int index_zero, TIM_CONVERT_PARAMETERS) {
  const int tile = get_global_id(0);
  if (tile > (total - 1) / 16) return;
  const int first = tile * 16;
  const int last = first + min(16, total - first);
  int i = first % run;
  int n = first / run % count;
  int outer = first / run / count;
  x += x_offset;
  indices += indices_offset;
  y += y_offset;
  coordinate += coordinate_offset;
  for (int at = first; at < last; ++at) {
    const int place =
        tim_index_place(indices, at, coordinate, 1, index_scale, index_zero);
    TIM_CONVERT(y, at, x, i + place + outer * outer_stride);
    if (++i < run) continue;
    i = 0;
    if (++n < count) continue;
    n = 0;
    ++outer;
  }
}
