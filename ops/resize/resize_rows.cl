// Resizes dense planes [w, h]: one work-item makes `group` rows of the output,
// 16 neighbours at a time; dimension 0 = group of rows + groups * plane.
// `sources` has 64 words for each sixteen: the first element of the input that
// it is made of, how many follow that one up to the last, 14 unused; `lower`
// and `upper` of each neighbour, from the first on, and the bits of the weight
// of upper.  Behind them are those of the rows, {lower, upper, bits of the
// weight}.  The last sixteen of several ends with the row.
// ops/resize/resize.cc has the formula.
//
// -DIN0=F32 -DOUT=F32  element types
// -DRULE=BITS     the element at `lower` is copied; IN0 = OUT = U8, U16 or U32
//        BOUNDED  it becomes a code of 8 bits of another quantization
//        BLEND    bilinear: both F32, or each of them U8 or I8
// of BLEND from codes of 8 bits:
// -DEXACT         the weights make every product and sum exact, so that
//                 columns may be blended first
// -DFUSED         one rounding to units gives the same codes

#define VALUE float16
#define WEIGHT float16
#include "kernels/bytes/codes.clh"
#include "kernels/part16.clh"
#include "ops/resize/blend.clh"

#ifndef IN0
#define IN0 F32
#endif
#ifndef OUT
#define OUT F32
#endif
#ifndef RULE
#define RULE BLEND
#endif

#define CELL TIM_STORAGE(IN0)
#define STORED TIM_STORAGE(OUT)
#define STORED16 TIM_PASTE(STORED, 16)

// 1 of a RULE.
#define COPIES TIM_PASTE(COPIES_, RULE)
#define COPIES_BITS 1
#define BLENDS TIM_PASTE(BLENDS_, RULE)
#define BLENDS_BLEND 1

#define SIXTEEN_WORDS 64

// Elements as floats: of those that are copied the bits.
#if COPIES
#define AS_FLOAT16(v) as_float16(convert_uint16(v))
#define AS_FLOAT(v) as_float((uint)(v))
#elif TIM_IS_FLOAT(IN0)
#define AS_FLOAT16(v) (v)
#define AS_FLOAT(v) (v)
#else
#define AS_FLOAT16(v) convert_float16(convert_int16(v) - x_zero)
#define AS_FLOAT(v) ((float)((int)(v)-x_zero))
#endif

// Elements of 32, first a's, then b's.
static inline float16 pick(float16 a, float16 b, int16 index) {
#ifdef __AVX512F__
  return __builtin_ia32_vpermi2varps512(a, index, b);
#else
  float from[32];
  int at[16];
  float to[16];
  TIM_VSTORE16_PRIVATE(a, 0, from, float);
  TIM_VSTORE16_PRIVATE(b, 1, from, float);
  TIM_VSTORE16_PRIVATE(index, 0, at, int);
  for (int j = 0; j < 16; ++j) to[j] = from[at[j]];
  return TIM_VLOAD16_PRIVATE(0, to, float);
#endif
}

// Elements anywhere.
static inline float16 gather(__global const CELL* in, int16 index, int x_zero) {
  int at[16];
  float to[16];
  TIM_VSTORE16_PRIVATE(index, 0, at, int);
  for (int j = 0; j < 16; ++j) to[j] = AS_FLOAT(in[at[j]]);
  return TIM_VLOAD16_PRIVATE(0, to, float);
}

// 16 elements from `first` of a tensor of `total` on.
static inline float16 read(__global const CELL* in, int first, int total,
                           int x_zero) {
  return AS_FLOAT16(TIM_PASTE(tim_load_near_, CELL)(in, first, total));
}

#if !BLENDS
static inline float16 resized(__global const CELL* in, int first, int total,
                              int span, int16 lower, int x_zero) {
  if (span >= 32) return gather(in + first, lower, x_zero);
  const float16 a = read(in, first, total, x_zero);
  const float16 b = span < 16 ? a : read(in, first + 16, total, x_zero);
  return pick(a, b, lower);
}
#else
// Blend of the rows that begin at `first0` and `first1`, v the weight of the
// second.
static inline float16 resized(__global const CELL* in, int first0, int first1,
                              int total, int span, int16 lower, int16 upper,
                              float16 u, float v, int x_zero) {
  if (span >= 32) {
    return tim_blend(gather(in + first0, lower, x_zero),
                     gather(in + first0, upper, x_zero),
                     gather(in + first1, lower, x_zero),
                     gather(in + first1, upper, x_zero), u, v);
  }
  const float16 a0 = read(in, first0, total, x_zero);
  const float16 a1 = read(in, first1, total, x_zero);
  float16 b0 = a0;
  float16 b1 = a1;
  if (span >= 16) {
    b0 = read(in, first0 + 16, total, x_zero);
    b1 = read(in, first1 + 16, total, x_zero);
  }
#ifdef EXACT
  const float16 a = fma(a1, (float16)(v), a0 * (1.0f - v));
  const float16 b = fma(b1, (float16)(v), b0 * (1.0f - v));
  const float16 near = pick(a, b, lower);
  return fma(pick(a, b, upper) - near, u, near);
#else
  return tim_blend(pick(a0, b0, lower), pick(a0, b0, upper),
                   pick(a1, b1, lower), pick(a1, b1, upper), u, v);
#endif
}
#endif

// Elements of the output.
static inline STORED16 finish(float16 v, float x_scale, int y_zero) {
#if COPIES
  return TIM_PASTE(convert_, STORED16)(as_uint16(v));
#elif TIM_IS_FLOAT(OUT)
  return v * x_scale;
#else
#ifdef FUSED
  const float16 units = fma(v, (float16)(x_scale), (float16)((float)y_zero));
#else
  const float16 units = v * x_scale + (float)y_zero;
#endif
  return TIM_PASTE(convert_, STORED16)(TIM_CLAMPED_SUM(
      int16, units + TIM_LOW_BITS_OF_SUM, TIM_LEAST(OUT), TIM_GREATEST(OUT)));
#endif
}

__kernel void resize_rows(__global const CELL* x, int x_offset,
                          __global STORED* y, int y_offset,
                          __global const int* sources, int sources_offset,
                          int w, int h, int out_w, int out_h, int planes,
                          int group, float x_scale, int x_zero, int y_zero) {
  const int groups = (out_h + group - 1) / group;
  const int plane = get_global_id(0) / groups;
  if (plane >= planes) return;
  const int first_row = ((int)get_global_id(0) - plane * groups) * group;
  const int end_row = min(first_row + group, out_h);
  const int total = planes * h * w;
  const int sixteens = (out_w + 15) / 16;
  const int last = max(out_w - 16, 0);
  sources += sources_offset;
  __global const int* down = sources + sixteens * SIXTEEN_WORDS + 3 * first_row;
  x += x_offset;
  y += y_offset + (plane * out_h + first_row) * out_w;
  for (int row = first_row; row < end_row; ++row, down += 3, y += out_w) {
    const int row0 = (plane * h + down[0]) * w;
#if BLENDS
    const int row1 = (plane * h + down[1]) * w;
    const float v = as_float(down[2]);
#else
    const int again = row > first_row && down[0] == down[-3];
#endif
    for (int i = 0; i < sixteens; ++i) {
      const int at = min(i * 16, last);
      __global const int* sixteen = sources + i * SIXTEEN_WORDS;
#if BLENDS
      const STORED16 result = finish(
          resized(x, row0 + sixteen[0], row1 + sixteen[0], total, sixteen[1],
                  TIM_VLOAD16(1, sixteen, int), TIM_VLOAD16(2, sixteen, int),
                  as_float16(TIM_VLOAD16(3, sixteen, int)), v, x_zero),
          x_scale, y_zero);
#else
      const STORED16 result =
          again ? TIM_PASTE(tim_load_near_, STORED)(y - out_w, at, out_w)
                : finish(resized(x, row0 + sixteen[0], total, sixteen[1],
                                 TIM_VLOAD16(1, sixteen, int), x_zero),
                         x_scale, y_zero);
#endif
      TIM_PASTE(tim_store_part_, STORED)(result, y + at, out_w);
    }
  }
}
