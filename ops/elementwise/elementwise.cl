// y = ACTIVATION(FUNCTION(a, b) * scale) with broadcasting:
//   ADD       a + b
//   SUB       a - b
//   MULTIPLY  a * b
//   DIV       a / b; integers: towards zero, x / 0 is the limit of x's sign
//   MINIMUM   the smaller, NaN where one is NaN
//   MAXIMUM   the larger, NaN where one is NaN
// Rows run along the fastest axis, where an operand has neighbours (step 1) or
// one element (step 0); the other axes are rows of `outer`: {extent, a stride,
// b stride}, fastest first, in the order of the output.  Blocked tensors are
// dense ones with the block as axis 0.
// One work-item computes 16 elements of a row.
//
// -DIN0=F32 -DIN1=F32 -DOUT=F32  element types (kernels/elements.clh)
// -DFUNCTION=ADD      which operator
// -DACTIVATION=NONE   RELU or RELU6 of the result (kernels/activations.clh)
// -DPLAIN             integers without quantization: exact 64-bit arithmetic,
//                     without `scale`
// -DTIM_WRAP -DTIM_TO_ZERO  policies (kernels/requantize.clh)

#include "kernels/activations.clh"
#include "kernels/elements16.clh"
#include "kernels/exact_quotient.clh"
#include "kernels/integers.clh"

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
#define FUNCTION ADD
#endif
#ifndef ACTIVATION
#define ACTIVATION NONE
#endif

// NAME(T, a, b) for T = float and float16, NAME_PLAIN(T, a, b) for T = long and
// long16.
#define ADD(T, a, b) ((a) + (b))
#define SUB(T, a, b) ((a) - (b))
#define MULTIPLY(T, a, b) ((a) * (b))
#define DIV(T, a, b) TIM_PASTE(tim_quotient_, T)(a, b)
#define MINIMUM(T, a, b) ((((a) < (b)) | ((a) != (a))) ? (a) : (b))
#define MAXIMUM(T, a, b) ((((a) > (b)) | ((a) != (a))) ? (a) : (b))
#define ADD_PLAIN(T, a, b) TIM_INTEGER_ADD(T, a, b)
#define SUB_PLAIN(T, a, b) TIM_INTEGER_SUB(T, a, b)
#define MULTIPLY_PLAIN(T, a, b) TIM_PASTE(tim_integer_multiply_, T)(a, b)
#define DIV_PLAIN(T, a, b) TIM_PASTE(tim_integer_divide_, T)(a, b)
#define MINIMUM_PLAIN(T, a, b) min(a, b)
#define MAXIMUM_PLAIN(T, a, b) max(a, b)

// The activation of what is stored: codes have no NaN but 0.
#if TIM_IS_FLOAT(OUT) || defined(PLAIN)
#define STORED(T, v) (v)
#else
#define STORED(T, v) ((v) == (v) ? (v) : (T)(-(float)(y_zero)*y_scale))
#endif
#define ACTIVATE(T, v) TIM_PASTE(ACTIVATE_, ACTIVATION)(T, v)
#define ACTIVATE_NONE(T, v) (v)
#define ACTIVATE_RELU(T, v) TIM_RELU(T, STORED(T, v))
#define ACTIVATE_RELU6(T, v) TIM_RELU6(T, STORED(T, v))

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
                          int b_step, float scale, float a_scale, int a_zero,
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
    const VALUE16 result = COMPUTE(VALUE16, u, v);
    STORE16(first, ACTIVATE(VALUE16, result));
    return;
  }
  for (int i = first; i < row_length; ++i) {
    const VALUE u = LOAD(IN0, a, i * a_step, a_scale, a_zero);
    const VALUE v = LOAD(IN1, b, i * b_step, b_scale, b_zero);
    const VALUE result = COMPUTE(VALUE, u, v);
    STORE(i, ACTIVATE(VALUE, result));
  }
}
