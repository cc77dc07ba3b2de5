// Transposed convolution of any type, stride, padding and number of groups:
//   y(x, y, oc, n) = bias(oc) + sum over ic, kh, kw of
//       input((x + pad_w - kw) / stride_w, ..., g * Ic + ic, n)
//       * weights(kw, kh, ic, oc)
// with g = oc / group_outputs, of the taps whose quotients are integers and lie
// inside of the input.
// Dense tensors [W, H, C, N]; weights [Kw, Kh, Ic, Oc].
// One work-item = one output element; dimension 0 = x + out_w * y, dimension 1
// = output channel, dimension 2 = batch.  Options: kernels/product_sum.clh.

#include "kernels/product_sum.clh"
#include "ops/convolution/conv_sizes.clh"

__kernel void deconv(__global const TIM_STORAGE(IN0) * input, int input_offset,
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
  // The taps that reach the pixel are those of its phase; none does before the
  // first input position, where pads are negative.
  const int right = pixel % sizes.out_w + sizes.pad_w;
  const int bottom = pixel / sizes.out_w + sizes.pad_h;
  const int first_kw = right < 0 ? sizes.kernel_w : right % sizes.stride_w;
  const int first_kh = bottom < 0 ? sizes.kernel_h : bottom % sizes.stride_h;
  const int last_x = right / sizes.stride_w;
  const int last_y = bottom / sizes.stride_h;
  const int first_channel =
      n * sizes.in_channels + oc / sizes.group_outputs * sizes.group_channels;
  int weight = weights_offset +
               oc * sizes.group_channels * sizes.kernel_h * sizes.kernel_w;

  tim_sum sum = 0;
  for (int ic = 0; ic < sizes.group_channels;
       ++ic, weight += sizes.kernel_h * sizes.kernel_w) {
    const int plane =
        input_offset + (first_channel + ic) * sizes.in_h * sizes.in_w;
    int in_y = last_y;
    for (int kh = first_kh; kh < sizes.kernel_h; kh += sizes.stride_h, --in_y) {
      if (in_y < 0 || in_y >= sizes.in_h) continue;
      int in_x = last_x;
      for (int kw = first_kw; kw < sizes.kernel_w;
           kw += sizes.stride_w, --in_x) {
        if (in_x < 0 || in_x >= sizes.in_w) continue;
        sum = tim_add_product(
            sum,
            TIM_FACTOR(IN0, input, plane + in_y * sizes.in_w + in_x,
                       input_scale, input_zero),
            TIM_FACTOR(IN1, weights, weight + kh * sizes.kernel_w + kw,
                       channel.factor, channel.weight_zero));
      }
    }
  }
  TIM_STORE_SUM(sum, oc, channel,
                output_offset + (n * sizes.out_channels + oc) * pixels + pixel)
}
