// Float32 convolution with one input channel for each output channel; formula
// as in conv_sums.cl, summed by multiply_add in the order (kw, kh).
// One work-item = one strip of ops/convolution/depthwise_strip.clh, which says
// the layouts.
//
// -DSTRIP, -DKERNEL_H, -DSTRIDE_H, -DDILATION_H  as there
// -DBIAS, -DADD a float per output channel that is added
// -DRESIDUAL    a tensor of the output's shape that is added
// -DACTIVATE    kernels/activate.clh

#include "kernels/activate.clh"
#include "kernels/multiply_add.clh"
#include "ops/convolution/depthwise_strip.clh"
#include "ops/launch/epilogue.clh"
#include "ops/launch/epilogue_parameters.clh"

#define PIXEL(y) \
  ((y) >= 0 && (y) < sizes.in_h ? input[(y)*sizes.in_w + in_x] : 0.0f)
#define ADD_PRODUCT(sum, pixel, weight) (sum) = multiply_add(pixel, weight, sum)

__kernel void conv2d_depthwise_simt(__global const float* input,
                                    int input_offset,
                                    __global const float* weights,
                                    int weights_offset, TIM_EPILOGUE_PARAMETERS,
                                    conv_sizes sizes) {
  const conv_strip strip = strip_of(get_global_id(0), sizes);
  if (strip.plane >= sizes.out_channels * sizes.batch) return;
  input += input_offset + strip.in_plane;
  weights += weights_offset + strip.first_tap;

  float sums[STRIP];
#pragma unroll
  for (int i = 0; i < STRIP; ++i) sums[i] = 0.0f;
  for (int kw = 0; kw < sizes.kernel_w; ++kw) {
    const int in_x =
        strip.x * sizes.stride_w - sizes.pad_w + kw * sizes.dilation_w;
    if (in_x < 0 || in_x >= sizes.in_w) continue;
    ADD_COLUMN(float, sums, PIXEL, ADD_PRODUCT)
  }

  const float more = LOAD_BIAS(strip.oc) + LOAD_ADD(strip.oc);
  for (int i = 0; i < STRIP && strip.first_y + i < sizes.out_h; ++i) {
    const int index =
        (strip.plane * sizes.out_h + strip.first_y + i) * sizes.out_w + strip.x;
    const float result = sums[i] + more + LOAD_RESIDUAL(index);
    output[output_offset + index] = TIM_ACTIVATE(float, result, low, high);
  }
}
