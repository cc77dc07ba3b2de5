// out(o, m) = bias(o) + sum over k of input(k, m) * weights(k, o), any types.
// Dense tensors: input [K, M], weights [K, O], output [O, M].
// One work-item = one output element; dimension 0 = o, dimension 1 = m.
// Options: kernels/product_sum.clh.

#include "kernels/product_sum.clh"

__kernel void fullyconnected(
    __global const TIM_STORAGE(IN0) * input, int input_offset,
    __global const TIM_STORAGE(IN1) * weights, int weights_offset,
    __global const int* channels, int channels_offset,
#ifdef BIAS
    __global const TIM_STORAGE(BIAS) * bias, int bias_offset,
#endif
#ifdef ADD
    __global const float* add, int add_offset,
#endif
    __global TIM_STORAGE(OUT) * output, int output_offset, float input_scale,
    int input_zero, float output_scale, float output_inverse, int output_zero,
    tim_result low, tim_result high, int depth, int outputs, int rows) {
  const int o = get_global_id(0);
  const int m = get_global_id(1);
  if (o >= outputs || m >= rows) return;
  const tim_channel channel = tim_load_channel(channels + channels_offset, o);
  const int x = input_offset + m * depth;
  const int w = weights_offset + o * depth;
  tim_sum sum = 0;
  for (int k = 0; k < depth; ++k) {
    sum = tim_add_product(
        sum, TIM_FACTOR(IN0, input, x + k, input_scale, input_zero),
        TIM_FACTOR(IN1, weights, w + k, channel.factor, channel.weight_zero));
  }
  TIM_STORE_SUM(sum, o, channel, output_offset + m * outputs + o)
}
