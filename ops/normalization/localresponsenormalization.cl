// y = x * 2^(-beta * log2(bias + alpha * sum of squares)), the sum over
// `window_reach` neighbours before and behind along an axis, in the order of
// the axis: the same bits as eval.
//
// Dense tensors of `slices` slices of `slice` elements; neighbours along the
// axis are `window_step` apart, so that an element has the neighbours that are
// in its slice.  One work-item makes 16 elements of a slice.
//
// -DIN=F32 -DOUT=F32  element types of kernels/elements16.clh

#include "kernels/elements16.clh"
#include "kernels/exact_exp2.clh"
#include "kernels/exact_log2.clh"

#ifndef IN
#define IN F32
#endif
#ifndef OUT
#define OUT F32
#endif

// Elements i to i + 15 of the slice, 0 for those outside of it.
static inline float16 load_inside(__global const TIM_STORAGE(IN) * in, int i,
                                  int slice, float scale, int zero) {
  if (i >= 0 && i <= slice - 16) {
    return TIM_LOAD_REAL16(IN, in, i, scale, zero);
  }
  float x[16];
  for (int j = 0; j < 16; ++j) {
    x[j] = 0.0f;
    if (i + j >= 0 && i + j < slice) {
      x[j] = TIM_LOAD_REAL(IN, in, i + j, scale, zero);
    }
  }
  return vload16(0, x);
}

__kernel void localresponsenormalization(
    __global const TIM_STORAGE(IN) * in, int in_offset,
    __global TIM_STORAGE(OUT) * out, int out_offset, int window_step,
    int window_reach, int slice, int slices, float alpha, float beta,
    float bias, float in_scale, int in_zero, float out_scale, float out_inverse,
    int out_zero) {
  const int vectors = (slice + 15) / 16;
  const int item = get_global_id(0);
  if (item >= vectors * slices) return;
  const int i = item % vectors * 16;
  in += in_offset + item / vectors * slice;
  out += out_offset + item / vectors * slice;
  float16 sum = 0.0f;
  // Of vectors that are wholly outside of the slice nothing is added.
  const int first = max(-window_reach, -((i + 15) / window_step));
  const int last = min(window_reach, (slice - 1 - i) / window_step);
  for (int k = first; k <= last; ++k) {
    const float16 x =
        load_inside(in, i + k * window_step, slice, in_scale, in_zero);
    sum += x * x;
  }
  const float16 s = bias + alpha * sum;
  const float16 x = load_inside(in, i, slice, in_scale, in_zero);
  const float16 y = x * tim_exp2_16(-beta * tim_log2_float16(s));
  if (i + 16 <= slice) {
    TIM_STORE_REAL16(OUT, out, i, y, out_scale, out_inverse, out_zero);
    return;
  }
  float lanes[16];
  vstore16(y, 0, lanes);
  for (int j = 0; i + j < slice; ++j) {
    TIM_STORE_REAL(OUT, out, i + j, lanes[j], out_scale, out_inverse, out_zero);
  }
}
