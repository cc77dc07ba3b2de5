// Slices of y changed by all of their updates, slices of x, in their order
// (ops/indexing/scatter_lists.cl):
//   y = ((initial FUNCTION x[first]) FUNCTION x[next]) ..., rounded once.
// One work-item makes 16 elements.
//
// -DIN0=F32 -DOUT=F32  element types (kernels/elements.clh)
// -DFUNCTION=ADD   MULTIPLY, MAXIMUM or MINIMUM
// -DINITIAL=ZERO   OUTPUT: what y has; INPUT: what `data` has
// -DIN1=F32        type of `data`
// -DPLAIN          integers without quantization: in 64 bits, saturated

#include "kernels/elements16.clh"
#include "kernels/integers.clh"
#include "ops/indexing/scatter_tile.clh"

#ifndef IN0
#define IN0 F32
#endif
#ifndef OUT
#define OUT F32
#endif
#ifndef IN1
#define IN1 F32
#endif
#ifndef FUNCTION
#define FUNCTION ADD
#endif
#ifndef INITIAL
#define INITIAL ZERO
#endif

#define ADD(T, a, b) ((a) + (b))
#define MULTIPLY(T, a, b) ((a) * (b))
#define MAXIMUM(T, a, b) ((((a) > (b)) | ((a) != (a))) ? (a) : (b))
#define MINIMUM(T, a, b) ((((a) < (b)) | ((a) != (a))) ? (a) : (b))
#define ADD_PLAIN(T, a, b) TIM_INTEGER_ADD(T, a, b)
#define MULTIPLY_PLAIN(T, a, b) TIM_PASTE(tim_integer_multiply_, T)(a, b)
#define MAXIMUM_PLAIN(T, a, b) max(a, b)
#define MINIMUM_PLAIN(T, a, b) min(a, b)

#ifdef PLAIN
#define VALUE long
#define VALUE16 long16
#define LOAD(t, p, i, s, z) TIM_LOAD_CODE(t, p, i)
#define LOAD16(t, p, i, s, z) TIM_LOAD_CODE16(t, p, i)
#define STORE(i, v) TIM_STORE_CODE(OUT, y, i, v)
#define STORE16(i, v) TIM_STORE_CODE16(OUT, y, i, v)
#define COMBINE(T, a, b) TIM_PASTE(FUNCTION, _PLAIN)(T, a, b)
#else
#define VALUE float
#define VALUE16 float16
#define LOAD(t, p, i, s, z) TIM_LOAD_REAL(t, p, i, s, z)
#define LOAD16(t, p, i, s, z) TIM_LOAD_REAL16(t, p, i, s, z)
#define STORE(i, v) TIM_STORE_REAL(OUT, y, i, v, y_scale, y_inverse, y_zero)
#define STORE16(i, v) TIM_STORE_REAL16(OUT, y, i, v, y_scale, y_inverse, y_zero)
#define COMBINE(T, a, b) FUNCTION(T, a, b)
#endif

#define BEGIN(i) TIM_PASTE(BEGIN_, INITIAL)(i)
#define BEGIN_ZERO(i) ((VALUE)0)
#define BEGIN_OUTPUT(i) LOAD(OUT, y, i, y_scale, y_zero)
#define BEGIN_INPUT(i) LOAD(IN1, data, i, data_scale, data_zero)
#define BEGIN16(i) TIM_PASTE(BEGIN16_, INITIAL)(i)
#define BEGIN16_ZERO(i) ((VALUE16)0)
#define BEGIN16_OUTPUT(i) LOAD16(OUT, y, i, y_scale, y_zero)
#define BEGIN16_INPUT(i) LOAD16(IN1, data, i, data_scale, data_zero)

__kernel void scatter_combine(__global const TIM_STORAGE(IN1) * data,
                              int data_offset,
                              __global const TIM_STORAGE(IN0) * x, int x_offset,
                              __global TIM_STORAGE(OUT) * y, int y_offset,
                              __global const int* places, int places_offset,
                              __global const int* heads, int heads_offset,
                              __global const int* nexts, int nexts_offset,
                              int updates, int run, float data_scale,
                              int data_zero, float x_scale, int x_zero,
                              float y_scale, float y_inverse, int y_zero) {
  const int3 tile = scatter_tile(get_global_id(0), places + places_offset,
                                 heads + heads_offset, updates, run);
  if (tile.y < 0) return;
  x += x_offset + tile.z;
  y += y_offset + tile.y + tile.z;
  data += data_offset + tile.y + tile.z;
  nexts += nexts_offset;
  if (tile.z + 16 <= run) {
    VALUE16 value = BEGIN16(0);
    for (int n = tile.x; n >= 0; n = nexts[n]) {
      const VALUE16 update = LOAD16(IN0, x, n * run, x_scale, x_zero);
      value = COMBINE(VALUE16, value, update);
    }
    STORE16(0, value);
    return;
  }
  for (int i = 0; i < run - tile.z; ++i) {
    VALUE value = BEGIN(i);
    for (int n = tile.x; n >= 0; n = nexts[n]) {
      const VALUE update = LOAD(IN0, x, n * run + i, x_scale, x_zero);
      value = COMBINE(VALUE, value, update);
    }
    STORE(i, value);
  }
}
