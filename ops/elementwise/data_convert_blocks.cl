// Elements in another type or quantization and in another layout at once:
// dense tensors [inner, channels, outer], inner >= 16, and blocks of 16
// channels [16, inner, ceil(channels / 16), outer], of 8-bit codes.
//   convert_pack    dense to blocks; lanes beyond the last channel get y_zero
//   convert_unpack  blocks to dense
// One work-item converts 16 positions of a block.
//
// -DIN0=F32 -DOUT=U8  element types; what lies in blocks is U8 or I8
// -DRULE=REAL         or UNITS: see ops/elements/convert.clh
// -DPACK              convert_pack, else convert_unpack

#ifndef IN0
#define IN0 U8
#endif
#ifndef OUT
#define OUT U8
#endif

#include "kernels/memory16.clh"
#include "kernels/transpose16.clh"
#include "ops/elements/convert.clh"

#define BYTES16(v) as_uchar16(v)
#define CODES_U8(v) tim_to_code16_uchar(v)
#define CODES_I8(v) tim_to_code16_char(v)
#define CENTERED_U8(bytes) (convert_int16(bytes) - x_zero)
#define CENTERED_I8(bytes) (convert_int16(as_char16(bytes)) - x_zero)

// Of a real value, or of one in units of codes.
#define UNITS_REAL(v) TIM_UNITS16(v, y_scale, y_inverse, y_zero)
#define UNITS_UNITS(v) ((v) + (float)(y_zero))
#define STORE_REAL(p, v) \
  TIM_STORE_REAL16(OUT, p, 0, v, y_scale, y_inverse, y_zero)
#define STORE_UNITS(p, v) TIM_STORE_UNITS16(OUT, p, 0, (v) + (float)(y_zero))

#ifdef PACK
__kernel void convert_pack(__global const TIM_STORAGE(IN0) * x, int x_offset,
                           __global TIM_STORAGE(OUT) * y, int y_offset,
                           int inner, int channels, int outer,
                           TIM_CONVERT_PARAMETERS) {
  const int tiles = (inner + 15) / 16;
  const int blocks = (channels + 15) / 16;
  const int block = get_global_id(0) / tiles;  // of all slices
  const int slice = block / blocks;
  if (slice >= outer) return;
  // The last tile of a row overlaps the one before it.
  const int tile = (int)get_global_id(0) - block * tiles;
  const int position = min(tile * 16, inner - 16);
  const int first = (block - slice * blocks) * 16;
  x += x_offset + (slice * channels + first) * inner + position;
  y += y_offset + (block * inner + position) * 16;
  uchar16 rows[16];
  for (int c = 0; c < 16; ++c) {
    rows[c] = (uchar16)((uchar)y_zero);
    if (first + c < channels) {
      const float16 v = TIM_LOAD_REAL16(IN0, x + c * inner, 0, x_scale, x_zero);
      const float16 units = TIM_PASTE(UNITS_, RULE)(v);
      rows[c] = BYTES16(TIM_PASTE(CODES_, OUT)(units));
    }
  }
  tim_transpose16_uchar(rows);
  for (int i = 0; i < 16; ++i) {
    TIM_VSTORE16(rows[i], i, (__global uchar*)y, uchar);
  }
}
#else
__kernel void convert_unpack(__global const TIM_STORAGE(IN0) * x, int x_offset,
                             __global TIM_STORAGE(OUT) * y, int y_offset,
                             int inner, int channels, int outer,
                             TIM_CONVERT_PARAMETERS) {
  const int tiles = (inner + 15) / 16;
  const int blocks = (channels + 15) / 16;
  const int block = get_global_id(0) / tiles;
  const int slice = block / blocks;
  if (slice >= outer) return;
  const int tile = (int)get_global_id(0) - block * tiles;
  const int position = min(tile * 16, inner - 16);
  const int first = (block - slice * blocks) * 16;
  x += x_offset + (block * inner + position) * 16;
  y += y_offset + (slice * channels + first) * inner + position;
  uchar16 rows[16];
  for (int i = 0; i < 16; ++i) {
    rows[i] = TIM_VLOAD16(i, (__global const uchar*)x, uchar);
  }
  tim_transpose16_uchar(rows);
  for (int c = 0; c < 16; ++c) {
    if (first + c < channels) {
      const float16 v =
          convert_float16(TIM_PASTE(CENTERED_, IN0)(rows[c])) * x_scale;
      TIM_PASTE(STORE_, RULE)(y + c * inner, v);
    }
  }
}
#endif
