// Pools the windows of dense planes [w, h]: one work-item makes one element of
// the output.  Integer inputs are summed as code - in_zero, exactly.  Then
// y = v * multiplier, and an integer output is clamp(rint(y / scale + zero)).
//
// -DIN=F32 -DOUT=F32  element types of kernels/elements.clh
// -DPOOL=0  0 the greatest cell, 1 the sum / (kernel_w * kernel_h),
//           2 sqrt(sum of squares / cells inside), 3 the sum / cells inside,
//           4 the sum / cells before padded_w and padded_h
// -DSUM=float  type of the sum: float for float inputs, else int or long

#include "kernels/elements.clh"
#include "ops/pooling/pool_sizes.clh"

#ifndef IN
#define IN F32
#endif
#ifndef OUT
#define OUT F32
#endif
#ifndef POOL
#define POOL 0
#endif
#ifndef SUM
#define SUM float
#endif

// The value of element i as SUM.
#define VALUE_OF_FLOAT(i) TIM_LOAD_REAL(IN, in, i, 1.0f, 0)
#define VALUE_OF_CODE(i) ((SUM)((int)in[i] - in_zero))
#define VALUE_F32 VALUE_OF_FLOAT
#define VALUE_F16 VALUE_OF_FLOAT
#define VALUE_I8 VALUE_OF_CODE
#define VALUE_U8 VALUE_OF_CODE
#define VALUE_I16 VALUE_OF_CODE
#define VALUE_U16 VALUE_OF_CODE

__kernel void pool2d(__global const TIM_STORAGE(IN) * in, int in_offset,
                     __global TIM_STORAGE(OUT) * out, int out_offset,
                     pool_sizes sizes, float window, float inverse_window,
                     int in_zero, float multiplier, float scale,
                     float inverse_scale, int zero, float lowest) {
  const int index = get_global_id(0);
  const int row = index / sizes.out_w;
  const int plane = row / sizes.out_h;
  if (plane >= sizes.planes) return;
  in += in_offset + plane * sizes.h * sizes.w;
  const int x = (index - row * sizes.out_w) * sizes.stride_w - sizes.left;
  const int y = (row - plane * sizes.out_h) * sizes.stride_h - sizes.top;
  const int x_begin = clamp(x, 0, sizes.w);
  const int x_end = clamp(x + sizes.kernel_w, 0, sizes.w);
  const int y_begin = clamp(y, 0, sizes.h);
  const int y_end = clamp(y + sizes.kernel_h, 0, sizes.h);
#if POOL == 4
  const int count = max(min(x + sizes.kernel_w, sizes.padded_w) - x, 0) *
                    max(min(y + sizes.kernel_h, sizes.padded_h) - y, 0);
#else
  const int count = (x_end - x_begin) * (y_end - y_begin);
#endif

  SUM sum = 0;
#if POOL == 0
  if (count > 0) sum = TIM_PASTE(VALUE_, IN)(y_begin * sizes.w + x_begin);
#endif
  for (int iy = y_begin; iy < y_end; ++iy) {
    for (int ix = x_begin; ix < x_end; ++ix) {
      const SUM value = TIM_PASTE(VALUE_, IN)(iy * sizes.w + ix);
#if POOL == 0
      if (value > sum || isnan((float)value)) sum = value;  // NaN stays
#elif POOL == 2
      sum += value * value;
#else
      sum += value;
#endif
    }
  }

  float result = (float)sum;
#if POOL == 1
  result = tim_divide(result, window, inverse_window);
#elif POOL != 0
  if (count > 0) {
    result = tim_divide(result, (float)count, tim_reciprocal((float)count));
  }
#endif
#if POOL == 2
  result = tim_sqrt(result);
#endif
  result = result * multiplier;
#if POOL == 0
  if (count == 0) result = lowest;
#endif
  TIM_STORE_REAL(OUT, out, out_offset + index, result, scale, inverse_scale,
                 zero);
}
