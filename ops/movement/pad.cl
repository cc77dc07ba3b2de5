// Adds elements before and after those of x along its axes.  Rows of `axes`,
// fastest first, the first dense: {extent of y, extent of x, elements added
// before, stride in x}:
//   y[i] = x[source(i - before)] along each axis.
// One work-item makes a tile of `width` x `height` elements of axes 0 and 1.
//
// -DMODE=CONSTANT   what is outside of x has the bits `value`
//        EDGE       is the nearest element of x
//        SYMMETRIC  is mirrored, the first and the last element included
//        REFLECT    is mirrored without them
// further -Ds: see ops/elements/convert.clh, ops/elements/fill_row.clh

#include "ops/elements/convert_row.clh"
#include "ops/elements/fill_row.clh"

#ifndef MODE
#define MODE CONSTANT
#endif

// Element of n that stands at i; -1: the constant.
#define SOURCE(i, n) TIM_PASTE(SOURCE_, MODE)(i, n)
#define SOURCE_CONSTANT(i, n) ((i) >= 0 && (i) < (n) ? (i) : -1)
#define SOURCE_EDGE(i, n) clamp(i, 0, (n)-1)
#define SOURCE_SYMMETRIC(i, n) \
  ((i) < 0 ? -1 - (i) : (i) < (n) ? (i) : (n)-1 - ((i) - (n)))
#define SOURCE_REFLECT(i, n) \
  ((i) < 0 ? -(i) : (i) < (n) ? (i) : (n)-2 - ((i) - (n)))
#define FILLS_CONSTANT 1

// Elements first to last - 1 of a row, all outside of x, whose element 0 stands
// at `before`.
static inline void fill_padding(__global TIM_STORAGE(OUT) * y, int first,
                                int last, __global const TIM_STORAGE(IN0) * x,
                                int before, int n, TIM_STORAGE(WORD) value,
                                TIM_CONVERT_PARAMETERS) {
#if TIM_PASTE(FILLS_, MODE)
  tim_fill_row((__global TIM_STORAGE(WORD)*)y + first, last - first, value);
#else
  for (int i = first; i < last; ++i) {
    TIM_CONVERT(y, i, x, SOURCE(i - before, n));
  }
#endif
}

__kernel void pad(__global const TIM_STORAGE(IN0) * x, int x_offset,
                  __global TIM_STORAGE(OUT) * y, int y_offset,
                  __global const int* axes, int axes_offset, int rank,
                  int tiles, int width, int height, long value,
                  TIM_CONVERT_PARAMETERS) {
  if ((int)get_global_id(0) >= tiles) return;
  axes += axes_offset;
  const int y0 = axes[0];
  const int y1 = axes[4];
  const int tiles0 = (y0 - 1) / width + 1;
  const int tiles1 = (y1 - 1) / height + 1;
  int rest = get_global_id(0);
  const int first0 = rest % tiles0 * width;
  rest /= tiles0;
  const int first1 = rest % tiles1 * height;
  rest /= tiles1;
  y += y_offset + rest * y0 * y1;
  x += x_offset;
  int inside = 1;
  for (int k = 2; k < rank; ++k) {
    __global const int* axis = axes + 4 * k;
    const int i = rest % axis[0] - axis[2];
    const int source = SOURCE(i, axis[1]);
    rest /= axis[0];
    inside &= source >= 0;
    x += max(source, 0) * axis[3];
  }
  const int last0 = first0 + min(width, y0 - first0);
  const int last1 = first1 + min(height, y1 - first1);
  const int before = axes[2];
  for (int i1 = first1; i1 < last1; ++i1) {
    const int source = SOURCE(i1 - axes[6], axes[5]);
    // A row outside of x has no elements of x.
    const int n = inside && source >= 0 ? axes[1] : 0;
    __global const TIM_STORAGE(IN0)* from = x + max(source, 0) * axes[7];
    __global TIM_STORAGE(OUT)* to = y + i1 * y0;
    const int begin = clamp(before, first0, last0);
    const int end = clamp(before + n, begin, last0);
    fill_padding(to, first0, begin, from, before, n, (TIM_STORAGE(WORD))value,
                 x_scale, x_zero, y_scale, y_inverse, y_zero);
    tim_convert_row(to + begin, from + (begin - before), end - begin, x_scale,
                    x_zero, y_scale, y_inverse, y_zero);
    fill_padding(to, end, last0, from, before, n, (TIM_STORAGE(WORD))value,
                 x_scale, x_zero, y_scale, y_inverse, y_zero);
  }
}
