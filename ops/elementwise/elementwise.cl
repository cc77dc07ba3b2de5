// y = ACTIVATION(FUNCTION(a, b) * scale) with broadcasting.
// Rows run along the fastest axis, where an operand has neighbours (step 1) or
// one element (step 0); the other axes are rows of `outer`: {extent, a stride,
// b stride}, fastest first, in the order of the output.  Blocked tensors are
// dense ones with the block as axis 0.
// One work-item computes 16 elements of a row.
//
// -DIN0=F32 -DIN1=F32 -DOUT=F32  element types (kernels/elements.clh)
// -DFUNCTION=TIM_ADD     macro of ir::Pointwise; its header stands before this
// -DACTIVATION=TIM_RELU  a fused operator's, the same; where OUT is no float
//                        type one that sets limits
// -DPLAIN                integers without quantization: exact 64-bit
// arithmetic,
//                        FUNCTION_PLAIN and ACTIVATION_PLAIN, without `scale`
// -DTIM_WRAP -DTIM_TO_ZERO  policies (kernels/requantize.clh)

#include "kernels/elements16.clh"

#ifndef IN0
#define IN0 F32
#endif
#ifndef IN1
#define IN1 F32
#endif
#ifndef OUT
#define OUT F32
#endif
#ifndef FUNCTION
#define FUNCTION SUM
#define SUM(T, a, b) ((a) + (b))
#endif

// The activation of what is stored: codes have no NaN but 0.
#if TIM_IS_FLOAT(OUT) || defined(PLAIN) || !defined(ACTIVATION)
#define STORED(T, v) (v)
#else
#define STORED(T, v) ((v) == (v) ? (v) : (T)(-(float)(y_zero)*y_scale))
#endif
#if !defined(ACTIVATION)
#define ACTIVATE(T, v) (v)
#elif defined(PLAIN)
#define ACTIVATE(T, v) \
  TIM_PASTE(ACTIVATION, _PLAIN)(T, v, activation_a, activation_b)
#else
#define ACTIVATE(T, v) ACTIVATION(T, v, activation_a, activation_b)
#endif

#ifdef PLAIN
#define VALUE long
#define VALUE16 long16
#define LOAD(t, p, i, s, z) TIM_LOAD_CODE(t, p, i)
#define LOAD16(t, p, i, s, z) TIM_LOAD_CODE16(t, p, i)
#define STORE(i, v) TIM_STORE_CODE(OUT, y, i, v)
#define STORE16(i, v) TIM_STORE_CODE16(OUT, y, i, v)
#define COMPUTE(T, a, b) TIM_PASTE(FUNCTION, _PLAIN)(T, a, b)
#else
#define VALUE float
#define VALUE16 float16
#define LOAD(t, p, i, s, z) TIM_LOAD_REAL(t, p, i, s, z)
#define LOAD16(t, p, i, s, z) TIM_LOAD_REAL16(t, p, i, s, z)
#define STORE(i, v) TIM_STORE_REAL(OUT, y, i, v, y_scale, y_inverse, y_zero)
#define STORE16(i, v) TIM_STORE_REAL16(OUT, y, i, v, y_scale, y_inverse, y_zero)
#define COMPUTE(T, a, b) (FUNCTION(T, a, b) * scale)
#endif

__kernel void elementwise(__global const TIM_STORAGE(IN0) * a, int a_offset,
                          __global const TIM_STORAGE(IN1) * b, int b_offset,
                          __global TIM_STORAGE(OUT) * y, int y_offset,
                          __global const int* outer, int outer_offset,
                          int outer_rank, int rows, int row_length, int a_step,
                          int b_step, float scale, float activation_a,
                          float activation_b, float a_scale, int a_zero,
                          float b_scale, int b_zero, float y_scale,
                          float y_inverse, int y_zero) {
  const int items_per_row = (row_length + 15) / 16;
  const int row = get_global_id(0) / items_per_row;
  if (row >= rows) return;
  const int first = (get_global_id(0) - row * items_per_row) * 16;
  a += a_offset;
  b += b_offset;
  y += y_offset + row * row_length;
  outer += outer_offset;
  int rest = row;
  for (int k = 0; k < outer_rank; ++k) {
    const int index = rest % outer[3 * k];
    rest /= outer[3 * k];
    a += index * outer[3 * k + 1];
    b += index * outer[3 * k + 2];
  }
  if (first + 16 <= row_length) {
    VALUE16 u;
    VALUE16 v;
    if (a_step == 0) {
      u = (VALUE16)(LOAD(IN0, a, 0, a_scale, a_zero));
    } else {
      u = LOAD16(IN0, a, first, a_scale, a_zero);
    }
    if (b_step == 0) {
      v = (VALUE16)(LOAD(IN1, b, 0, b_scale, b_zero));
    } else {
      v = LOAD16(IN1, b, first, b_scale, b_zero);
    }
    const VALUE16 computed = COMPUTE(VALUE16, u, v);
    const VALUE16 result = STORED(VALUE16, computed);
    STORE16(first, ACTIVATE(VALUE16, result));
    return;
  }
  for (int i = first; i < row_length; ++i) {
    const VALUE u = LOAD(IN0, a, i * a_step, a_scale, a_zero);
    const VALUE v = LOAD(IN1, b, i * b_step, b_scale, b_zero);
    const VALUE computed = COMPUTE(VALUE, u, v);
    const VALUE result = STORED(VALUE, computed);
    STORE(i, ACTIVATE(VALUE, result));
  }
}
