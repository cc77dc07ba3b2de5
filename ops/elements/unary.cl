// y[i] = FUNCTION(x[i]) for any element types; the kernel of every operator of
// one input.  Flat over all elements in memory, whatever the layout.
// One work-item computes 16 consecutive elements.
//
// -DIN0=F32 -DOUT=F32  element types (kernels/elements.clh)
// -DFUNCTION=TIM_RELU  macro of ir::Pointwise; its header stands before this
// -DPLAIN              integers without quantization: FUNCTION_PLAIN on long

#include "kernels/elements16.clh"

#ifndef IN0
#define IN0 F32
#endif
#ifndef OUT
#define OUT F32
#endif
#ifndef FUNCTION
#define FUNCTION SAME
#define SAME(T, x, a, b) (x)
#endif

__kernel void unary(__global const TIM_STORAGE(IN0) * x, int x_offset,
                    __global TIM_STORAGE(OUT) * y, int y_offset, int n,
                    float x_scale, int x_zero, float y_scale, float y_inverse,
                    int y_zero, float a, float b) {
  const int first = get_global_id(0) * 16;
  if (first >= n) return;
  x += x_offset;
  y += y_offset;
  if (first + 16 <= n) {
#ifdef PLAIN
    const long16 v = TIM_LOAD_CODE16(IN0, x, first);
    const long16 result = TIM_PASTE(FUNCTION, _PLAIN)(long16, v, a, b);
    TIM_STORE_CODE16(OUT, y, first, result);
#else
    const float16 v = TIM_LOAD_REAL16(IN0, x, first, x_scale, x_zero);
    const float16 result = FUNCTION(float16, v, a, b);
    TIM_STORE_REAL16(OUT, y, first, result, y_scale, y_inverse, y_zero);
#endif
    return;
  }
  for (int i = first; i < n; ++i) {
#ifdef PLAIN
    const long v = TIM_LOAD_CODE(IN0, x, i);
    const long result = TIM_PASTE(FUNCTION, _PLAIN)(long, v, a, b);
    TIM_STORE_CODE(OUT, y, i, result);
#else
    const float v = TIM_LOAD_REAL(IN0, x, i, x_scale, x_zero);
    const float result = FUNCTION(float, v, a, b);
    TIM_STORE_REAL(OUT, y, i, result, y_scale, y_inverse, y_zero);
#endif
  }
}
