// The greatest cell of every window: one work-item makes one element of each
// output.  y has the cell as ops/elements/convert.clh converts it, or the bits
// `lowest` where a window has none; the indices have its place.
//
// -DVALUES         there is y, of -DWORD=U32, the unsigned type of its size
// -DINDEX=I32      type of the indices, if there are any
// -DINDEX_LOCAL    they count in the window, else in the whole input
// further -Ds      of ops/pooling/max_window.clh, ops/elements/convert.clh

#include "ops/elements/convert.clh"
#include "ops/pooling/max_window.clh"

#ifndef WORD
#define WORD U32
#endif

__kernel void max_windows(__global const TIM_STORAGE(CELL) * x, int x_offset,
#ifdef VALUES
                          __global TIM_STORAGE(OUT) * y, int y_offset,
                          long lowest, TIM_CONVERT_PARAMETERS,
#endif
#ifdef INDEX
                          __global TIM_STORAGE(INDEX) * indices,
                          int indices_offset,
#endif
                          TIM_WINDOW_PARAMETERS) {
  const int index = get_global_id(0);
  if (index / out_w / out_h / out_d >= planes) return;
  x += x_offset;
  int inner;
  const int best = tim_greatest_cell(x, index, &inner, TIM_WINDOW_ARGUMENTS);
#ifdef VALUES
  y += y_offset;
  if (best >= 0) {
    __global const TIM_STORAGE(IN0)* from = (__global const TIM_STORAGE(IN0)*)x;
    TIM_CONVERT(y, index, from, best);
  } else {
    ((__global TIM_STORAGE(WORD)*)y)[index] = (TIM_STORAGE(WORD))lowest;
  }
#endif
#ifdef INDEX
#ifdef INDEX_LOCAL
  indices[indices_offset + index] = (TIM_STORAGE(INDEX))inner;
#else
  indices[indices_offset + index] = (TIM_STORAGE(INDEX))best;
#endif
#endif
}
