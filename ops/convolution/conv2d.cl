// Two-dimensional convolution of any type, stride, dilation, padding and
// number of groups:
//   y(x, y, oc, n) = bias(oc) + sum over ic, kh, kw of
//       input(x * stride_w - pad_w + kw * dilation_w, ..., g * Ic + ic, n)
//       * weights(kw, kh, ic, oc)
// with g = oc / group_outputs; positions outside of the input count 0.
// Dense tensors [W, H, C, N]; weights [Kw, Kh, Ic, Oc].
// One work-item = one output element; dimension 0 = x + out_w * y, dimension 1
// = output channel, dimension 2 = batch.  Options: kernels/product_sum.clh.

#include "kernels/product_sum.clh"
#include "ops/convolution/conv_sizes.clh"

__kernel void conv2d(__global const TIM_STORAGE(IN0) * input, int input_offset,
                     __global const TIM_STORAGE(IN1) * weights,
                     int weights_offset, __global const int* channels,
                     int channels_offset,
#ifdef BIAS
                     __global const TIM_STORAGE(BIAS) * bias, int bias_offset,
#endif
#ifdef ADD
                     __global const float* add, int add_offset,
#endif
                     __global TIM_STORAGE(OUT) * output, int output_offset,
                     float input_scale, int input_zero, float output_scale,
                     float output_inverse, int output_zero, tim_result low,
                     tim_result high, conv_sizes sizes) {
  const int pixel = get_global_id(0);
  const int oc = get_global_id(1);
  const int n = get_global_id(2);
  const int pixels = sizes.out_w * sizes.out_h;
  if (pixel >= pixels || oc >= sizes.out_channels || n >= sizes.batch) return;
  const tim_channel channel = tim_load_channel(channels + channels_offset, oc);
  const int left = pixel % sizes.out_w * sizes.stride_w - sizes.pad_w;
  const int top = pixel / sizes.out_w * sizes.stride_h - sizes.pad_h;
  const int first_channel =
      n * sizes.in_channels + oc / sizes.group_outputs * sizes.group_channels;
  int weight = weights_offset +
               oc * sizes.group_channels * sizes.kernel_h * sizes.kernel_w;

  tim_sum sum = 0;
  for (int ic = 0; ic < sizes.group_channels; ++ic) {
    for (int kh = 0; kh < sizes.kernel_h; ++kh, weight += sizes.kernel_w) {
      const int in_y = top + kh * sizes.dilation_h;
      if (in_y < 0 || in_y >= sizes.in_h) continue;
      const int row = input_offset +
                      ((first_channel + ic) * sizes.in_h + in_y) * sizes.in_w;
      for (int kw = 0; kw < sizes.kernel_w; ++kw) {
        const int in_x = left + kw * sizes.dilation_w;
        if (in_x < 0 || in_x >= sizes.in_w) continue;
        sum = tim_add_product(
            sum, TIM_FACTOR(IN0, input, row + in_x, input_scale, input_zero),
            TIM_FACTOR(IN1, weights, weight + kw, channel.factor,
                       channel.weight_zero));
      }
    }
  }
  TIM_STORE_SUM(sum, oc, channel,
                output_offset + (n * sizes.out_channels + oc) * pixels + pixel)
}
