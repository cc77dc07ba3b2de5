// y[i] = the sum of the gradients x of the windows that cover cell i and whose
// index, of max_windows.cl, is i.  One work-item makes one element.
//
// -DIN0=F32 -DOUT=F32  element types of kernels/elements.clh

#include "kernels/elements.clh"
#include "ops/pooling/max_window.clh"

#ifndef IN0
#define IN0 F32
#endif
#ifndef OUT
#define OUT F32
#endif

// The first window, of those that move by `by` from -pad, that reaches cell i,
// and one beyond the last that begins at or before it.
static inline int2 covering(int i, int pad, int extent, int by, int count) {
  const int beyond = i + pad - extent + 1;
  const int first = beyond > 0 ? (beyond - 1) / by + 1 : 0;
  return (int2)(first, min((i + pad) / by + 1, count));
}

__kernel void maxpoolgrad(__global const TIM_STORAGE(IN0) * x, int x_offset,
                          __global const int* indices, int indices_offset,
                          __global TIM_STORAGE(OUT) * y, int y_offset,
                          float x_scale, int x_zero, float y_scale,
                          float y_inverse, int y_zero, TIM_WINDOW_PARAMETERS) {
  const int cell = get_global_id(0);
  const int row = cell / w;
  const int plane = row / h;
  if (plane >= planes) return;
  x += x_offset;
  indices += indices_offset;
  const int2 across = covering(cell - row * w, left, kernel_w, stride_w, out_w);
  const int2 down = covering(row - plane * h, top, kernel_h, stride_h, out_h);
  float sum = 0.0f;
  for (int oy = down.x; oy < down.y; ++oy) {
    const int begin = (plane * out_h + oy) * out_w;
    for (int o = begin + across.x; o < begin + across.y; ++o) {
      if (indices[o] != cell) continue;
      sum += TIM_LOAD_REAL(IN0, x, o, x_scale, x_zero);
    }
  }
  TIM_STORE_REAL(OUT, y, y_offset + cell, sum, y_scale, y_inverse, y_zero);
}
