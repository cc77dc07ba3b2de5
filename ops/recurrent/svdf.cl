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

typedef struct {
  int width, memory, rank, units, batch;
  float in_scale, state_scale, feature_scale, times_scale, out_scale;
  int in_zero, state_zero, feature_zero, times_zero, out_zero;
  float out_inverse;
#ifdef BIAS
  float bias_scale;
  int bias_zero;
#endif
#ifdef NEXT
  float next_scale, next_inverse;
  int next_zero;
#endif
} svdf_numbers;

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
                   svdf_numbers s) {
  const int u = get_global_id(0);
  const int n = get_global_id(1);
  if (u >= s.units || n >= s.batch) return;
  const int x = in_offset + n * s.width;
  float total = 0.0f;
  for (int r = 0; r < s.rank; ++r) {
    const int f = u * s.rank + r;
    const int weights = feature_offset + f * s.width;
    float newest = 0.0f;
    TIM_IN_ORDER
    for (int i = 0; i < s.width; ++i) {
      newest += TIM_LOAD_REAL(IN, in, x + i, s.in_scale, s.in_zero) *
                TIM_LOAD_REAL(FEATURE, feature, weights + i, s.feature_scale,
                              s.feature_zero);
    }
    const int of_filter = (n * s.units * s.rank + f) * s.memory;
    float sum = 0.0f;
    TIM_IN_ORDER
    for (int m = 0; m < s.memory; ++m) {
      float value = newest;
      if (m < s.memory - 1) {
        value = TIM_LOAD_REAL(STATE, state, state_offset + of_filter + m + 1,
                              s.state_scale, s.state_zero);
      }
      sum += value * TIM_LOAD_REAL(TIME, times, times_offset + f * s.memory + m,
                                   s.times_scale, s.times_zero);
#ifdef NEXT
      TIM_STORE_REAL(NEXT, next, next_offset + of_filter + m, value,
                     s.next_scale, s.next_inverse, s.next_zero);
#endif
    }
    total += sum;
  }
#ifdef BIAS
  total +=
      TIM_LOAD_REAL(BIAS, bias, bias_offset + u, s.bias_scale, s.bias_zero);
#endif
  TIM_STORE_REAL(OUT, out, out_offset + n * s.units + u, total, s.out_scale,
                 s.out_inverse, s.out_zero);
}
