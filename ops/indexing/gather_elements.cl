// Elements chosen by indices along one axis, where y and the indices are
// [run, count, ...] and x is [..., extent, ...] with outer_stride elements for
// each of the slowest:
//   y[i + run * (n + count * o)] = x[i + index * stride + outer_stride * o]
// where index is the one at y's place, the nearest that there is.  One
// work-item makes `piece` elements.
//
// -Ds: see ops/elements/convert.clh, ops/indexing/indices.clh

#include "ops/elements/convert.clh"
#include "ops/indexing/indices.clh"

#define LANES ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

__kernel void gather_elements(__global const TIM_STORAGE(IN0) * x, int x_offset,
                              __global const TIM_STORAGE(INDEX) * indices,
                              int indices_offset, __global TIM_STORAGE(OUT) * y,
                              int y_offset, int total, int run, int count,
                              int extent, int stride, int outer_stride,
                              int piece, float index_scale, int index_zero,
                              TIM_CONVERT_PARAMETERS) {
  const int item = get_global_id(0);
  if (item > (total - 1) / piece) return;
  int at = item * piece;
  const int last = at + min(piece, total - at);
  // Neighbours follow one another along i, or along n where i is alone.
  const int step = run > 1;
  const int length = step ? run : count;
  const int rows = step ? count : 1;
  const int row = at / length;
  int k = at - row * length;
  int n = row % rows;
  int outer = row / rows;
  x += x_offset;
  indices += indices_offset;
  y += y_offset;
  while (at < last) {
    const int end = min(last, at + length - k);
    int from = outer * outer_stride + k * step;
#if INDEX_IS_INT
    for (; at + 16 <= end; at += 16, from += 16 * step) {
      const int16 index = tim_index_along16(indices, at, extent);
      int places[16];
      TIM_VSTORE16_PRIVATE(from + LANES * step + index * stride, 0, places,
                           int);
      for (int j = 0; j < 16; ++j) TIM_CONVERT(y, at + j, x, places[j]);
    }
#endif
    for (; at < end; ++at, from += step) {
      const int index =
          tim_index_along(indices, at, extent, index_scale, index_zero);
      TIM_CONVERT(y, at, x, from + index * stride);
    }
    k = 0;
    if (++n < rows) continue;
    n = 0;
    ++outer;
  }
}
