// The updates of each place, in their order (ops/indexing/scatter_kernel.cc).
//
// -Ds: see ops/elements/fill_row.clh, ops/indexing/indices.clh

#include "ops/elements/fill_row.clh"
#include "ops/indexing/indices.clh"

// y[i] = bits.  One work-item fills 16 elements.
__kernel void scatter_fill(__global TIM_STORAGE(WORD) * y, int y_offset,
                           int count, long bits) {
  if ((int)get_global_id(0) > (count - 1) / 16) return;
  const int first = get_global_id(0) * 16;
  tim_fill_row(y + y_offset + first, min(16, count - first),
               (TIM_STORAGE(WORD))bits);
}

// places[n]: the slice that update n changes, -1 for none.  One work-item finds
// one place.
__kernel void scatter_places(__global const TIM_STORAGE(INDEX) * indices,
                             int indices_offset, __global int* places,
                             int places_offset, __global const int* coordinate,
                             int coordinate_offset, int coordinate_length,
                             int updates, float index_scale, int index_zero) {
  const int n = get_global_id(0);
  if (n >= updates) return;
  places[places_offset + n] = tim_index_place(
      indices + indices_offset, n, coordinate + coordinate_offset,
      coordinate_length, index_scale, index_zero);
}

// heads[p]: the first update of slice p, -1 for none; nexts[n]: the one after
// n, -1 for none.  One work-item owns `share` slices.
__kernel void scatter_lists(__global const int* places, int places_offset,
                            __global int* heads, int heads_offset,
                            __global int* nexts, int nexts_offset, int updates,
                            int slices, int share) {
  if ((int)get_global_id(0) > (slices - 1) / share) return;
  const int begin = get_global_id(0) * share;
  const int owned = min(share, slices - begin);
  places += places_offset;
  heads += heads_offset + begin;
  nexts += nexts_offset;
  for (int i = 0; i < owned; ++i) heads[i] = -1;
  for (int n = updates - 1; n >= 0; --n) {
    const int i = places[n] - begin;
    if (i < 0 || i >= owned) continue;
    nexts[n] = heads[i];
    heads[i] = n;
  }
}

// heads[p]: the last update of slice p, -1 for none.  One work-item owns
// `share` slices.
__kernel void scatter_last(__global const int* places, int places_offset,
                           __global int* heads, int heads_offset, int updates,
                           int slices, int share) {
  if ((int)get_global_id(0) > (slices - 1) / share) return;
  const int begin = get_global_id(0) * share;
  const int owned = min(share, slices - begin);
  places += places_offset;
  heads += heads_offset + begin;
  for (int i = 0; i < owned; ++i) heads[i] = -1;
  for (int n = 0; n < updates; ++n) {
    const int i = places[n] - begin;
    if (i >= 0 && i < owned) heads[i] = n;
  }
}
