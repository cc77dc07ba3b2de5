// Each element of y takes the value of the last window, in row-major order,
// whose index leads to it, or the bits `zero_bits`.  One work-item makes one
// element.
//
// -DINDEX=U8 -DWORD=U32  type of the indices, unsigned type of y's size
// further -Ds            of ops/elements/convert.clh

#include "ops/elements/convert.clh"

#ifndef INDEX
#define INDEX U8
#endif
#ifndef WORD
#define WORD U32
#endif

__kernel void maxunpool2d(__global const TIM_STORAGE(IN0) * x, int x_offset,
                          __global const TIM_STORAGE(INDEX) * indices,
                          int indices_offset, __global TIM_STORAGE(OUT) * y,
                          int y_offset, int w, int h, int planes, int in_w,
                          int in_h, int kernel_w, int kernel_h, int stride_w,
                          int stride_h, long zero_bits,
                          TIM_CONVERT_PARAMETERS) {
  const int index = get_global_id(0);
  const int row = index / w;
  const int plane = row / h;
  if (plane >= planes) return;
  const int at_x = index - row * w;
  const int at_y = row - plane * h;
  x += x_offset;
  indices += indices_offset;
  y += y_offset;
  // Windows from the last that begins at or before the element.
  for (int iy = min(at_y / stride_h, in_h - 1); iy >= 0; --iy) {
    const int window_y = at_y - iy * stride_h;
    if (window_y >= kernel_h) break;
    for (int ix = min(at_x / stride_w, in_w - 1); ix >= 0; --ix) {
      const int window_x = at_x - ix * stride_w;
      if (window_x >= kernel_w) break;
      const int from = (plane * in_h + iy) * in_w + ix;
      const long wanted = (long)window_y * kernel_w + window_x;
      if (TIM_LOAD_CODE(INDEX, indices, from) != wanted) continue;
      TIM_CONVERT(y, index, x, from);
      return;
    }
  }
  ((__global TIM_STORAGE(WORD)*)y)[index] = (TIM_STORAGE(WORD))zero_bits;
}
