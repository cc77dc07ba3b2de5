// Three-dimensional convolution of any type, stride, dilation, padding and
// number of groups:
//   y(x, y, z, oc, n) = bias(oc) + sum over ic, kd, kh, kw of
//       input(x * stride_w - pad_left + kw * dilation_w, ..., g * Ic + ic, n)
//       * weights(kw, kh, kd, ic, oc)
// with g = oc / group_outputs; positions outside of the input count 0.
// Dense tensors [W, H, D, C, N]; weights [Kw, Kh, Kd, Ic, Oc].
// One work-item = one output element; dimension 0 = x + out_w * (y + out_h *
// z), dimension 1 = output channel, dimension 2 = batch.  Options:
// kernels/product_sum.clh, and
// -DADD  a float32 per output channel that is added to the result

#include "kernels/product_sum.clh"

__kernel void conv3d(__global const TIM_STORAGE(IN0) * input, int input_offset,
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
                     tim_result high, int in_w, int in_h, int in_d,
                     int in_channels, int kernel_w, int kernel_h, int kernel_d,
                     int group_channels, int group_outputs, int out_w,
                     int out_h, int out_d, int out_channels, int batch,
                     int stride_w, int stride_h, int stride_d, int dilation_w,
                     int dilation_h, int dilation_d, int pad_left, int pad_top,
                     int pad_front) {
  const int cell = get_global_id(0);
  const int oc = get_global_id(1);
  const int n = get_global_id(2);
  const int cells = out_w * out_h * out_d;
  if (cell >= cells || oc >= out_channels || n >= batch) return;
  const tim_channel channel = tim_load_channel(channels + channels_offset, oc);
  const int left = cell % out_w * stride_w - pad_left;
  const int top = cell / out_w % out_h * stride_h - pad_top;
  const int front = cell / (out_w * out_h) * stride_d - pad_front;
  const int first_channel =
      n * in_channels + oc / group_outputs * group_channels;
  const int taps = kernel_d * kernel_h * kernel_w;
  int weight = weights_offset + oc * group_channels * taps;

  tim_sum sum = 0;
  for (int ic = 0; ic < group_channels; ++ic) {
    for (int kd = 0; kd < kernel_d; ++kd) {
      const int in_z = front + kd * dilation_d;
      if (in_z < 0 || in_z >= in_d) {
        weight += kernel_h * kernel_w;
        continue;
      }
      const int plane = ((first_channel + ic) * in_d + in_z) * in_h;
      for (int kh = 0; kh < kernel_h; ++kh, weight += kernel_w) {
        const int in_y = top + kh * dilation_h;
        if (in_y < 0 || in_y >= in_h) continue;
        const int row = input_offset + (plane + in_y) * in_w;
        for (int kw = 0; kw < kernel_w; ++kw) {
          const int in_x = left + kw * dilation_w;
          if (in_x < 0 || in_x >= in_w) continue;
          sum = tim_add_product(
              sum, TIM_FACTOR(IN0, input, row + in_x, input_scale, input_zero),
              TIM_FACTOR(IN1, weights, weight + kw, channel.factor,
                         channel.weight_zero));
        }
      }
    }
  }

  tim_total total = tim_total_of(sum);
#ifdef BIAS
  total = TIM_ADD_BIAS(BIAS, total, bias, bias_offset + oc, channel);
#endif
  tim_result result = tim_result_of(total, channel.factor, output_scale,
                                    output_inverse, output_zero);
#ifdef ADD
  result += add[add_offset + oc];
#endif
  TIM_STORE_RESULT(OUT, output,
                   output_offset + (n * out_channels + oc) * cells + cell,
                   TIM_ACTIVATE(TIM_RESULT, result, low, high));
}
