// y = ACTIVATION(FUNCTION(a, b) * scale) with broadcasting.
// Rows run along the fastest axis, where an operand has neighbours (step 1) or
// one element (step 0); `rows` of them are a_row and b_row apart, and the other
// axes are `outer_rank` rows of `outer`: {extent, a stride, b stride}, fastest
// first, in the order of the output.  Blocked tensors are dense ones, the block
// is axis 0. One work-item computes `piece` elements, a multiple of 16, of
// `group` rows.
//
// -DIN0=F32 -DIN1=F32 -DOUT=F32  element types (kernels/elements.clh)
// -DFUNCTION=TIM_ADD     macro of ir::Pointwise; its header stands before this
// -DACTIVATION=TIM_RELU  a fused operator's, the same; where OUT is no float
//                        type one that sets limits
// -DSCALED               scale is not 1
// -DPLAIN                integers without quantization: exact 64-bit
//                        arithmetic, FUNCTION_PLAIN and ACTIVATION_PLAIN
// -DCORRECTIONS=0        y of 8 bits, stored by kernels/bytes/codes.clh, which
//                        gives the same here; an activation limits codes
// -DLINEAR               besides: a_scale * code of a + (b_scale * code of b +
//                        scale), which is in codes of y, gives the same
// -DTIM_WRAP -DTIM_TO_ZERO  policies (kernels/requantize.clh)

#include "kernels/bytes/codes.clh"
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
#if TIM_IS_FLOAT(OUT) || defined(PLAIN) || !defined(ACTIVATION) || \
    defined(CORRECTIONS)
#define STORED(T, v) (v)
#else
#define STORED(T, v) ((v) == (v) ? (v) : (T)(-(float)(y_zero)*y_scale))
#endif
#if !defined(ACTIVATION) || defined(CORRECTIONS)
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
#ifdef LINEAR
#define LOAD(t, p, i, s, z) TIM_LOAD_REAL(t, p, i, 1.0f, 0)
#define LOAD16(t, p, i, s, z) TIM_LOAD_REAL16(t, p, i, 1.0f, 0)
#define STORE(i, v) \
  TIM_STORE_LOW(OUT, y, i, (v) + TIM_LOW_BITS_OF_SUM, low, high)
#define STORE16(i, v) \
  TIM_STORE_LOW16(OUT, y, i, (v) + TIM_LOW_BITS_OF_SUM, low, high)
#define COMPUTE(T, a, b) fma(a, (T)(a_scale), fma(b, (T)(b_scale), (T)(scale)))
#else
#define LOAD(t, p, i, s, z) TIM_LOAD_REAL(t, p, i, s, z)
#define LOAD16(t, p, i, s, z) TIM_LOAD_REAL16(t, p, i, s, z)
#ifdef CORRECTIONS
#define STORE(i, v) \
  TIM_STORE_BOUNDED(OUT, y, i, v, y_scale, y_inverse, y_zero, low, high)
#define STORE16(i, v) \
  TIM_STORE_BOUNDED16(OUT, y, i, v, y_scale, y_inverse, y_zero, low, high)
#else
#define STORE(i, v) TIM_STORE_REAL(OUT, y, i, v, y_scale, y_inverse, y_zero)
#define STORE16(i, v) TIM_STORE_REAL16(OUT, y, i, v, y_scale, y_inverse, y_zero)
#endif
#ifdef SCALED
#define COMPUTE(T, a, b) (FUNCTION(T, a, b) * scale)
#else
#define COMPUTE(T, a, b) FUNCTION(T, a, b)
#endif
#endif
#endif

// Stores elements i to i + 15, of the operands u and v.
#define WRITE16(i, u, v)                              \
  {                                                   \
    const VALUE16 computed = COMPUTE(VALUE16, u, v);  \
    const VALUE16 result = STORED(VALUE16, computed); \
    STORE16(i, ACTIVATE(VALUE16, result));            \
  }

// The operands of elements i to i + 15.
#define NEIGHBOURS_A(i) LOAD16(IN0, a, i, a_scale, a_zero)
#define NEIGHBOURS_B(i) LOAD16(IN1, b, i, b_scale, b_zero)
#define SAME(i) same

// Stores elements `first` to `last`, 16 or more, of the operands U(i) and V(i).
// What is no whole vector is one that makes elements again: it is read before
// they are stored, which may be in place.
#define WRITE_ROW(U, V)                             \
  {                                                 \
    const int is_whole = (last - first) % 16 == 0;  \
    VALUE16 u_end;                                  \
    VALUE16 v_end;                                  \
    if (!is_whole) {                                \
      u_end = U(last - 16);                         \
      v_end = V(last - 16);                         \
    }                                               \
    for (int i = first; i + 16 <= last; i += 16) {  \
      WRITE16(i, U(i), V(i))                        \
    }                                               \
    if (!is_whole) WRITE16(last - 16, u_end, v_end) \
  }

typedef struct {
  int row_length, piece;
  int a_step, b_step;
  int rows, group;
  int a_row, b_row;
  int planes, outer_rank;
} row_sizes;

__kernel void elementwise(__global const TIM_STORAGE(IN0) * a, int a_offset,
                          __global const TIM_STORAGE(IN1) * b, int b_offset,
                          __global TIM_STORAGE(OUT) * y, int y_offset,
                          __global const int* outer, int outer_offset,
                          row_sizes sizes, float scale, float activation_a,
                          float activation_b, int low, int high, float a_scale,
                          int a_zero, float b_scale, int b_zero, float y_scale,
                          float y_inverse, int y_zero) {
  const int pieces = (sizes.row_length - 1) / sizes.piece + 1;
  const int groups = (sizes.rows - 1) / sizes.group + 1;
  int rest = get_global_id(0) / pieces;
  const int first = (get_global_id(0) - rest * pieces) * sizes.piece;
  const int last = first + min(sizes.piece, sizes.row_length - first);
  const int plane = rest / groups;
  if (plane >= sizes.planes) return;
  const int row = (rest - plane * groups) * sizes.group;
  a += a_offset + row * sizes.a_row;
  b += b_offset + row * sizes.b_row;
  y += y_offset + (plane * sizes.rows + row) * sizes.row_length;
  outer += outer_offset;
  rest = plane;
  for (int k = 0; k < sizes.outer_rank; ++k) {
    const int index = rest % outer[3 * k];
    rest /= outer[3 * k];
    a += index * outer[3 * k + 1];
    b += index * outer[3 * k + 2];
  }
  const int end = min(sizes.group, sizes.rows - row);
  // One vector for all rows: a value per channel beside blocks.
  if (sizes.row_length == 16 && sizes.a_step == 1 && sizes.b_step == 1 &&
      sizes.b_row == 0) {
    const VALUE16 v = LOAD16(IN1, b, 0, b_scale, b_zero);
    for (int r = 0; r < end; ++r) {
      const VALUE16 u = LOAD16(IN0, a, r * sizes.a_row, a_scale, a_zero);
      WRITE16(r * 16, u, v)
    }
    return;
  }
  for (int r = 0; r < end; ++r) {
    if (last - first < 16) {
      for (int i = first; i < last; ++i) {
        const VALUE u = LOAD(IN0, a, i * sizes.a_step, a_scale, a_zero);
        const VALUE v = LOAD(IN1, b, i * sizes.b_step, b_scale, b_zero);
        const VALUE computed = COMPUTE(VALUE, u, v);
        const VALUE result = STORED(VALUE, computed);
        STORE(i, ACTIVATE(VALUE, result));
      }
    } else if (sizes.a_step == 0) {
      const VALUE16 same = (VALUE16)(LOAD(IN0, a, 0, a_scale, a_zero));
      WRITE_ROW(SAME, NEIGHBOURS_B)
    } else if (sizes.b_step == 0) {
      const VALUE16 same = (VALUE16)(LOAD(IN1, b, 0, b_scale, b_zero));
      WRITE_ROW(NEIGHBOURS_A, SAME)
    } else {
      WRITE_ROW(NEIGHBOURS_A, NEIGHBOURS_B)
    }
    a += sizes.a_row;
    b += sizes.b_row;
    y += sizes.row_length;
  }
}
