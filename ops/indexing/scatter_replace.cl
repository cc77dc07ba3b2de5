// Slices of y replaced by the updates that heads names, slices of x
// (ops/indexing/scatter_lists.cl).  One work-item makes 16 elements.
//
// -Ds: see ops/elements/convert.clh

#include "ops/elements/convert_row.clh"
#include "ops/indexing/scatter_tile.clh"

__kernel void scatter_replace(__global const TIM_STORAGE(IN0) * x, int x_offset,
                              __global TIM_STORAGE(OUT) * y, int y_offset,
                              __global const int* places, int places_offset,
                              __global const int* heads, int heads_offset,
                              int updates, int run, TIM_CONVERT_PARAMETERS) {
  const int3 tile = scatter_tile(get_global_id(0), places + places_offset,
                                 heads + heads_offset, updates, run);
  if (tile.y < 0) return;
  tim_convert_row(y + y_offset + tile.y + tile.z,
                  x + x_offset + tile.x * run + tile.z, min(16, run - tile.z),
                  x_scale, x_zero, y_scale, y_inverse, y_zero);
}
