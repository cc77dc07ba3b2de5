// y = condition ? x : z with broadcasting; each of x and z is converted to y.
// Rows run along the fastest axis, where an operand has neighbours (step 1) or
// one element (step 0); the other axes are rows of `outer`: {extent, strides of
// condition, x and z}, fastest first, in the order of the output.  Blocked
// tensors are dense ones with the block as axis 0.
// One work-item computes 16 elements of a row.
//
// -DX=F32 -DX_RULE=REAL  of x: IN0 and RULE of ops/elements/convert.clh
// -DZ=F32 -DZ_RULE=REAL  of z
// -DOUT=F32
// -DWORD=U32  type of the size of OUT, as which equal elements are copied
// -DCOPY      those of x and z are: X, Z and OUT are WORD, too

#ifndef X
#define X F32
#define X_RULE REAL
#endif
#ifndef Z
#define Z F32
#define Z_RULE REAL
#endif
#ifndef WORD
#define WORD U32
#endif

#define IN0 X
#define RULE X_RULE
#include "ops/elements/convert.clh"

#undef TIM_CONVERT_BITS
#define TIM_CONVERT_BITS(y, j, x, i)       \
  (((__global TIM_STORAGE(WORD)*)(y))[j] = \
       ((__global const TIM_STORAGE(WORD)*)(x))[i])

static inline void store_x(__global TIM_STORAGE(OUT) * y, int j,
                           __global const TIM_STORAGE(X) * x, int i,
                           TIM_CONVERT_PARAMETERS) {
  TIM_CONVERT(y, j, x, i);
}

#undef IN0
#undef RULE
#define IN0 Z
#define RULE Z_RULE
static inline void store_z(__global TIM_STORAGE(OUT) * y, int j,
                           __global const TIM_STORAGE(Z) * x, int i,
                           TIM_CONVERT_PARAMETERS) {
  TIM_CONVERT(y, j, x, i);
}

#ifdef COPY
// Lanes of -1 where the condition holds, as wide as the words.
#define MASK16(t, v) TIM_PASTE(MASK16_, t)(v)
#define MASK16_U8(v) (v)
#define MASK16_U16(v) convert_short16(v)
#define MASK16_U32(v) convert_int16(v)
#define MASK16_I64(v) convert_long16(v)
#define LOAD16(p, step, type)                \
  ((step) == 0 ? (TIM_PASTE(type, 16))(*(p)) \
               : TIM_VLOAD16(0, (p) + first, type))
#endif

__kernel void select_rows(__global const uchar* condition, int condition_offset,
                          __global const TIM_STORAGE(X) * x, int x_offset,
                          __global const TIM_STORAGE(Z) * z, int z_offset,
                          __global TIM_STORAGE(OUT) * y, int y_offset,
                          __global const int* outer, int outer_offset,
                          int outer_rank, int rows, int row_length,
                          int condition_step, int x_step, int z_step,
                          float x_scale, int x_zero, float z_scale, int z_zero,
                          float y_scale, float y_inverse, int y_zero) {
  const int items_per_row = (row_length + 15) / 16;
  const int row = get_global_id(0) / items_per_row;
  if (row >= rows) return;
  const int first = (get_global_id(0) - row * items_per_row) * 16;
  condition += condition_offset;
  x += x_offset;
  z += z_offset;
  y += y_offset + row * row_length;
  outer += outer_offset;
  int rest = row;
  for (int k = 0; k < outer_rank; ++k) {
    const int index = rest % outer[4 * k];
    rest /= outer[4 * k];
    condition += index * outer[4 * k + 1];
    x += index * outer[4 * k + 2];
    z += index * outer[4 * k + 3];
  }
#ifdef COPY
  if (first + 16 <= row_length) {
    const char16 holds = LOAD16(condition, condition_step, uchar) != (uchar)(0);
    const TIM_PASTE(TIM_STORAGE(WORD), 16) u =
        LOAD16(x, x_step, TIM_STORAGE(WORD));
    const TIM_PASTE(TIM_STORAGE(WORD), 16) v =
        LOAD16(z, z_step, TIM_STORAGE(WORD));
    TIM_VSTORE16(MASK16(WORD, holds) ? u : v, 0, y + first, TIM_STORAGE(WORD));
    return;
  }
#endif
  const int last = min(first + 16, row_length);
  for (int i = first; i < last; ++i) {
    if (condition[i * condition_step] != 0) {
      store_x(y, i, x, i * x_step, x_scale, x_zero, y_scale, y_inverse, y_zero);
    } else {
      store_z(y, i, z, i * z_step, z_scale, z_zero, y_scale, y_inverse, y_zero);
    }
  }
}
