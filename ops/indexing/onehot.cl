// Indices [inner, ...] as y [inner, depth, ...]:
//   y[i + inner * (d + depth * o)] = indices[i + inner * o] == d ? on : off
// One work-item makes `tile` elements.
//
// -Ds: see ops/elements/fill_row.clh, ops/indexing/indices.clh

#include "ops/elements/fill_row.clh"
#include "ops/indexing/indices.clh"

// Elements first to first + n - 1 of a vector whose element `index` is on.
static inline void onehot_part(__global TIM_STORAGE(WORD) * y, int first, int n,
                               int index, TIM_STORAGE(WORD) on,
                               TIM_STORAGE(WORD) off) {
  tim_fill_row(y, n, off);
  if (index >= first && index < first + n) y[index - first] = on;
}

__kernel void onehot(__global const TIM_STORAGE(INDEX) * indices,
                     int indices_offset, __global TIM_STORAGE(WORD) * y,
                     int y_offset, int total, int inner, int depth, int tile,
                     long on, long off, float index_scale, int index_zero) {
  if ((int)get_global_id(0) > (total - 1) / tile) return;
  const int first = get_global_id(0) * tile;
  const int last = first + min(tile, total - first);
  indices += indices_offset;
  y += y_offset;
  int i = first % inner;
  int d = first / inner % depth;
  int outer = first / inner / depth;
  int at = first;
  while (at < last) {
    const int index =
        tim_index(indices, i + inner * outer, index_scale, index_zero);
    int n = 1;
    if (inner == 1) {
      n = min(depth - d, last - at);
      onehot_part(y + at, d, n, index, (TIM_STORAGE(WORD))on,
                  (TIM_STORAGE(WORD))off);
      d += n - 1;
    } else {
      y[at] = (TIM_STORAGE(WORD))(index == d ? on : off);
    }
    at += n;
    if (++i < inner) continue;
    i = 0;
    if (++d < depth) continue;
    d = 0;
    ++outer;
  }
}
