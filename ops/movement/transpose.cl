// Permutes axes.  The output is written along its dimension 0; dimension 1 is
// its axis that is fastest in the input (or next, where that is dimension 0),
// so that a tile reads and writes whole cache lines:
//   y[i0 + i1 * y1 + ...] = x[i0 * x0 + i1 * x1 + ...].
// The other axes are rows of `outer`: {extent, x stride, y stride}.
// One work-item moves a tile of 16 x TILE elements.
//
// -DTILE=16  extent of the tile along dimension 1
// -DWHOLE_TILES  16 x 16 elements of 32 bits are moved by vectors; x1 is 1
// further -Ds: see ops/elements/convert.clh

#include "kernels/memory16.clh"
#include "kernels/transpose16.clh"
#include "ops/elements/convert.clh"

#ifndef TILE
#define TILE 16
#endif

#ifdef WHOLE_TILES
// y[i0 + i1 * y1] = x[i0 * x0 + i1].
static inline void transpose_tile(__global const uint* x, int x0,
                                  __global uint* y, int y1) {
  float16 rows[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    rows[i] = as_float16(TIM_VLOAD16(0, x + i * x0, uint));
  }
  tim_transpose16(rows);
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    TIM_VSTORE16(as_uint16(rows[i]), 0, y + i * y1, uint);
  }
}
#endif

__kernel void transpose(__global const TIM_STORAGE(IN0) * x, int x_offset,
                        __global TIM_STORAGE(OUT) * y, int y_offset,
                        __global const int* outer, int outer_offset,
                        int outer_rank, int tiles, int n0, int n1, int x0,
                        int x1, int y1, TIM_CONVERT_PARAMETERS) {
  if ((int)get_global_id(0) >= tiles) return;
  const int tiles0 = (n0 + 15) / 16;
  const int tiles1 = (n1 + TILE - 1) / TILE;
  int rest = get_global_id(0);
  const int first0 = rest % tiles0 * 16;
  rest /= tiles0;
  const int first1 = rest % tiles1 * TILE;
  rest /= tiles1;
  x += x_offset;
  y += y_offset;
  outer += outer_offset;
  for (int k = 0; k < outer_rank; ++k) {
    const int index = rest % outer[3 * k];
    rest /= outer[3 * k];
    x += index * outer[3 * k + 1];
    y += index * outer[3 * k + 2];
  }
#ifdef WHOLE_TILES
  if (first0 + 16 <= n0 && first1 + 16 <= n1) {
    transpose_tile(x + first0 * x0 + first1, x0, y + first0 + first1 * y1, y1);
    return;
  }
#endif
  const int last0 = min(first0 + 16, n0);
  const int last1 = min(first1 + TILE, n1);
  for (int i1 = first1; i1 < last1; ++i1) {
    __global const TIM_STORAGE(IN0)* from = x + i1 * x1;
    __global TIM_STORAGE(OUT)* to = y + i1 * y1;
    if (x0 == 1 && first0 + 16 <= n0) {
      TIM_CONVERT16(to, first0, from, first0);
      continue;
    }
    for (int i = first0; i < last0; ++i) TIM_CONVERT(to, i, from, i * x0);
  }
}
