// Resizes planes of 8-bit codes in blocks of 16 channels, [16, w, h, blocks,
// n], by bilinear interpolation, to 8-bit codes.  `sources` is as in resize.cl;
// ops/resize/resize.cc has the formula.  One work-item makes up to TILE
// neighbours of a row of the output, 16 channels each; dimension 0 = tile +
// tiles * row, dimension 2 = plane.
//
// -DIN0=U8 -DOUT=U8  types of codes, U8 or I8
// -DEXACT            the weights make every product and sum exact, so that
//                    columns may be blended first
// -DFUSED            one rounding to units gives the same codes

#include "kernels/bytes/codes.clh"

#ifndef IN0
#define IN0 U8
#endif
#ifndef OUT
#define OUT U8
#endif
#ifndef TILE
#define TILE 64
#endif

// What is kept of the columns `lower` and `upper` of the input.  A code of
// weight 0 adds a zero, as codes are finite.
#ifdef EXACT
#define CODES(row, i) TIM_LOAD_REAL16(IN0, row, (i)*16, 1.0f, 0)
#define COLUMN(i)                  \
  fma(CODES(x1, i), (float16)(v1), \
      fma(CODES(x0, i), (float16)(v0), (float16)(-(float)(x_zero))))
#define KEPT           \
  float16 near = 0.0f; \
  float16 difference = 0.0f
#define UPPER_TO_LOWER near += difference
#define READ_LOWER(i) near = COLUMN(i)
#define READ_UPPER(i) difference = COLUMN(i) - near
#define BLEND(u) fma(difference, (float16)(u), near)
#else
#define CODES(row, i) TIM_LOAD_REAL16(IN0, row, (i)*16, 1.0f, x_zero)
#define KEPT          \
  float16 x00 = 0.0f; \
  float16 x01 = 0.0f; \
  float16 x10 = 0.0f; \
  float16 x11 = 0.0f
#define UPPER_TO_LOWER \
  x00 = x01;           \
  x10 = x11
#define READ_LOWER(i) \
  x00 = CODES(x0, i); \
  x10 = CODES(x1, i)
#define READ_UPPER(i) \
  x01 = CODES(x0, i); \
  x11 = CODES(x1, i)
#define BLEND(u)                                    \
  ((x00 * (v0 * (1.0f - (u))) + x11 * (v1 * (u))) + \
   (x01 * (v0 * (u)) + x10 * (v1 * (1.0f - (u)))))
#endif

// In units of the output's codes, at most 2^22.
#ifdef FUSED
#define UNITS(blend) fma(blend, (float16)(x_scale), (float16)((float)(y_zero)))
#else
#define UNITS(blend) ((blend)*x_scale + (float)(y_zero))
#endif

__kernel void resize_codes(__global const TIM_STORAGE(IN0) * x, int x_offset,
                           __global TIM_STORAGE(OUT) * y, int y_offset,
                           __global const int* sources, int sources_offset,
                           int w, int h, int out_w, int out_h, int planes,
                           float x_scale, int x_zero, int y_zero) {
  const int tiles = (out_w + TILE - 1) / TILE;
  const int index = get_global_id(0);
  const int row = index / tiles;
  const int first = (index - row * tiles) * TILE;
  const int plane = get_global_id(2);
  if (row >= out_h || plane >= planes) return;
  sources += sources_offset;
  __global const int* down = sources + 3 * (out_w + row);
  x += x_offset + plane * h * w * 16;
  y += y_offset + (plane * out_h + row) * out_w * 16;
  __global const TIM_STORAGE(IN0)* x0 = x + down[0] * w * 16;
  __global const TIM_STORAGE(IN0)* x1 = x + down[1] * w * 16;
  const float v1 = as_float(down[2]);
  const float v0 = 1.0f - v1;
  const int end = min(first + TILE, out_w);
  KEPT;
  int lower = -1;
  int upper = -1;
  for (int o = first; o < end; ++o) {
    __global const int* across = sources + 3 * o;
    if (across[0] != lower) {
      lower = across[0];
      if (lower == upper) {
        UPPER_TO_LOWER;
      } else {
        READ_LOWER(lower);
      }
      // Of the next results it may have a weight.
      upper = min(lower + 1, w - 1);
      READ_UPPER(upper);
    }
    const float u = as_float(across[2]);
    const float16 blend = BLEND(u);
    TIM_STORE_BOUNDED_UNITS16(OUT, y, o * 16, UNITS(blend));
  }
}
