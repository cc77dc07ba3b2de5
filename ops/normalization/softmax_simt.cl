// softmax.cl for GPUs: y = e * (1 / sum(e)), e = 2^((x - max(x)) * k), with the
// same rounding and the same order of the sum, thus the same bits as eval.
//
// Dense tensors [inner, count, outer], `count` elements along the axis.
//   softmax_group  inner is 1: one work-group makes one row; one item adds what
//                  all have computed
//   softmax_items  one work-item makes one row of any step; neighbours read
//                  neighbouring elements where inner is not 1
//
// -DIN=F32 -DOUT=F32  element types of kernels/elements.clh

#include "kernels/elements.clh"
#include "kernels/exact_exp2.clh"

#ifndef IN
#define IN F32
#endif
#ifndef OUT
#define OUT F32
#endif

#define GROUP 64
// Powers that lie in local memory at a time.
#define PART 256

#define POWER(i) \
  tim_exp2((TIM_LOAD_REAL(IN, in, i, in_scale, in_zero) - largest) * k)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void softmax_group(
    __global const TIM_STORAGE(IN) * in, int in_offset,
    __global TIM_STORAGE(OUT) * out, int out_offset, int count, float k,
    float in_scale, int in_zero, float out_scale, float out_inverse,
    int out_zero) {
  __local float part[PART];
  const int lane = get_local_id(0);
  const int row = get_group_id(0);
  in += in_offset + row * count;
  out += out_offset + row * count;

  float largest = -INFINITY;
  for (int i = lane; i < count; i += GROUP) {
    const float x = TIM_LOAD_REAL(IN, in, i, in_scale, in_zero);
    largest = x > largest ? x : largest;
  }
  part[lane] = largest;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = GROUP / 2; step > 0; step /= 2) {
    if (lane < step && part[lane + step] > part[lane]) {
      part[lane] = part[lane + step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  largest = part[0];
  barrier(CLK_LOCAL_MEM_FENCE);

  float sum = 0.0f;
  for (int first = 0; first < count; first += PART) {
    const int length = min(count - first, PART);
    for (int i = lane; i < length; i += GROUP) part[i] = POWER(first + i);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) {
      for (int i = 0; i < length; ++i) sum += part[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0) part[0] = tim_reciprocal(sum);
  barrier(CLK_LOCAL_MEM_FENCE);
  const float r = part[0];
  for (int i = lane; i < count; i += GROUP) {
    TIM_STORE_REAL(OUT, out, i, POWER(i) * r, out_scale, out_inverse, out_zero);
  }
}

__kernel void softmax_items(__global const TIM_STORAGE(IN) * in, int in_offset,
                            __global TIM_STORAGE(OUT) * out, int out_offset,
                            int count, int inner, int rows, float k,
                            float in_scale, int in_zero, float out_scale,
                            float out_inverse, int out_zero) {
  const int row = get_global_id(0);
  if (row >= rows) return;
  const int first = row / inner * inner * count + row % inner;
  in += in_offset + first;
  out += out_offset + first;
  float largest = -INFINITY;
  for (int i = 0; i < count; ++i) {
    const float x = TIM_LOAD_REAL(IN, in, i * inner, in_scale, in_zero);
    largest = x > largest ? x : largest;
  }
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) sum += POWER(i * inner);
  const float r = tim_reciprocal(sum);
  for (int i = 0; i < count; ++i) {
    TIM_STORE_REAL(OUT, out, i * inner, POWER(i * inner) * r, out_scale,
                   out_inverse, out_zero);
  }
}
