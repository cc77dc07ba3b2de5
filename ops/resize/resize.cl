// Resizes planes [w, h]: rows {lower, upper, bits of the weight of upper} of
// `sources`, first of each column of the output, then of each of its rows, say
// which elements of the input it is made of.  ops/resize/resize.cc has the
// formula.
//
// One work-item makes up to TILE neighbours of a row.  Dense planes: dimension
// 0 = tile + tiles * (row + out_h * plane).  Blocks of 16 channels, [16, w, h,
// blocks, n]: 16 channels of each; dimension 0 = tile + tiles * row, dimension
// 2 = plane.
//
// -DTILE=4
// -DLANES=16           blocks
// -DRULE=BLEND         bilinear: x_zero is taken from the codes of an integer
//                      input, x_scale multiplies the blend
// other RULEs          the element at `lower` is moved: see
//                      ops/elements/convert.clh, as for the further -Ds

#include "ops/elements/convert.clh"

#ifndef LANES
#define LANES 1
#endif
#ifndef TILE
#define TILE 1
#endif

// 1 of a RULE that blends.
#define BLENDS TIM_PASTE(BLENDS_, RULE)
#define BLENDS_BLEND 1

// 1 of a RULE by which an element costs more than to copy what it became.
#define CONVERTS TIM_PASTE(CONVERTS_, RULE)
#define CONVERTS_BOUNDED 1

#if LANES == 16
#define VALUE float16
#define LOAD(p, i) TIM_LOAD_REAL16(IN0, p, (i)*16, 1.0f, x_zero)
#define STORE(p, i, v) \
  TIM_STORE_REAL16(OUT, p, (i)*16, v, y_scale, y_inverse, y_zero)
#define MOVE(y, j, x, i) TIM_CONVERT16(y, (j)*16, x, (i)*16)
#else
#define VALUE float
#define LOAD(p, i) TIM_LOAD_REAL(IN0, p, i, 1.0f, x_zero)
#define STORE(p, i, v) TIM_STORE_REAL(OUT, p, i, v, y_scale, y_inverse, y_zero)
#define MOVE(y, j, x, i) TIM_CONVERT(y, j, x, i)
#endif

#if BLENDS
#include "ops/resize/blend.clh"
#endif

__kernel void resize(__global const TIM_STORAGE(IN0) * x, int x_offset,
                     __global TIM_STORAGE(OUT) * y, int y_offset,
                     __global const int* sources, int sources_offset, int w,
                     int h, int out_w, int out_h, int planes,
                     TIM_CONVERT_PARAMETERS) {
  const int tiles = (out_w + TILE - 1) / TILE;
  const int index = get_global_id(0);
  int row = index / tiles;
  const int first = (index - row * tiles) * TILE;
#if LANES == 16
  const int plane = get_global_id(2);
  if (row >= out_h || plane >= planes) return;
#else
  const int plane = row / out_h;
  if (plane >= planes) return;
  row -= plane * out_h;
#endif
  sources += sources_offset;
  __global const int* down = sources + 3 * (out_w + row);
  x += x_offset + plane * h * w * LANES;
  y += y_offset + (plane * out_h + row) * out_w * LANES;
  for (int o = first; o < min(first + TILE, out_w); ++o) {
    __global const int* across = sources + 3 * o;
#if BLENDS
    const VALUE result = tim_blend(LOAD(x, down[0] * w + across[0]),
                                   LOAD(x, down[0] * w + across[1]),
                                   LOAD(x, down[1] * w + across[0]),
                                   LOAD(x, down[1] * w + across[1]),
                                   as_float(across[2]), as_float(down[2])) *
                         x_scale;
    STORE(y, o, result);
#elif CONVERTS && LANES == 16
    if (o > first && across[0] == across[-3]) {
      TIM_VSTORE16(TIM_VLOAD16(o - 1, y, TIM_STORAGE(OUT)), o, y,
                   TIM_STORAGE(OUT));
    } else {
      MOVE(y, o, x, down[0] * w + across[0]);
    }
#else
    MOVE(y, o, x, down[0] * w + across[0]);
#endif
  }
}
