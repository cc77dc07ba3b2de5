// One step of filters f = u * rank + r with a memory of `memory` values each:
//   next(m, f) = state(m + 1, f), the last one sum over i of in(i) * feature
//   out(u) = (sum over r of sum over m of next(m, f) * time(m, f)) + bias(u)
// Sums go from the first term to the last, thus the bits of eval.
// Dense tensors: in [width, batch], state and next [memory, filters, batch],
// feature [width, filters], time [memory, filters], out [units, batch].
// One work-item = one unit of one sequence; dimension 0 = u, dimension 1 = n.
//
// -DIN=F32 -DSTATE=F32 -DFEATURE=F32 -DTIME=F32 -DOUT=F32  element types
// -DBIAS=F32  without it there is none
// -DNEXT=F32  without it there is no next state

#include "kernels/elements.clh"

#ifndef IN
#define IN F32
#define STATE F32
#define FEATURE F32
#define TIME F32
#define OUT F32
#endif

__kernel void svdf(__global const TIM_STORAGE(IN) * in, int in_offset,
                   __global const TIM_STORAGE(STATE) * state, int state_offset,
                   __global const TIM_STORAGE(FEATURE) * feature,
                   int feature_offset, __global const TIM_STORAGE(TIME) * times,
                   int times_offset,
#ifdef BIAS
                   __global const TIM_STORAGE(BIAS) * bias, int bias_offset,
#endif
                   __global TIM_STORAGE(OUT) * out, int out_offset,
#ifdef NEXT
                   __global TIM_STORAGE(NEXT) * next, int next_offset,
#endif
                   float in_scale, int in_zero, float state_scale,
                   int state_zero, float feature_scale, int feature_zero,
                   float times_scale, int times_zero,
#ifdef BIAS
                   float bias_scale, int bias_zero,
#endif
                   float out_scale, float out_inverse, int out_zero,
#ifdef NEXT
                   float next_scale, float next_inverse, int next_zero,
#endif
                   int width, int memory, int rank, int units, int batch) {
  const int u = get_global_id(0);
  const int n = get_global_id(1);
  if (u >= units || n >= batch) return;
  const int x = in_offset + n * width;
  float total = 0.0f;
  for (int r = 0; r < rank; ++r) {
    const int f = u * rank + r;
    const int weights = feature_offset + f * width;
    float newest = 0.0f;
    TIM_IN_ORDER
    for (int i = 0; i < width; ++i) {
      newest += TIM_LOAD_REAL(IN, in, x + i, in_scale, in_zero) *
                TIM_LOAD_REAL(FEATURE, feature, weights + i, feature_scale,
                              feature_zero);
    }
    const int of_filter = (n * units * rank + f) * memory;
    float sum = 0.0f;
    TIM_IN_ORDER
    for (int m = 0; m < memory; ++m) {
      float value = newest;
      if (m < memory - 1) {
        value = TIM_LOAD_REAL(STATE, state, state_offset + of_filter + m + 1,
                              state_scale, state_zero);
      }
      sum += value * TIM_LOAD_REAL(TIME, times, times_offset + f * memory + m,
                                   times_scale, times_zero);
#ifdef NEXT
      TIM_STORE_REAL(NEXT, next, next_offset + of_filter + m, value, next_scale,
                     next_inverse, next_zero);
#endif
    }
    total += sum;
  }
#ifdef BIAS
  total += TIM_LOAD_REAL(BIAS, bias, bias_offset + u, bias_scale, bias_zero);
#endif
  TIM_STORE_REAL(OUT, out, out_offset + n * units + u, total, out_scale,
                 out_inverse, out_zero);
}
