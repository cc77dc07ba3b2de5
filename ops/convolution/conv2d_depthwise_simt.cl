// Float32 convolution with one input channel for each output channel, dense
// tensors [W, H, C, N], weights [Kw, Kh, C * multiplier]; formula of
// conv_sums.cl, summed by multiply_add in the order (kw, kh).
// One work-item = STRIP neighbours along H, which share the rows that they
// read; dimension 0 = x + out_w * (strip + strips * (channel + channels * n)),
// so that neighbours read neighbouring columns.
//
// -DSTRIP=4                             output rows of an item
// -DKERNEL_H=3 -DSTRIDE_H=1 -DDILATION_H=1  of the window along H
// -DBIAS, -DADD a float per output channel that is added
// -DRESIDUAL    a tensor of the output's shape that is added
// -DACTIVATE    kernels/activate.clh

#ifndef STRIP
#define STRIP 4
#endif
#ifndef KERNEL_H
#define KERNEL_H 3
#endif
#ifndef STRIDE_H
#define STRIDE_H 1
#endif
#ifndef DILATION_H
#define DILATION_H 1
#endif

#include "kernels/activate.clh"
#include "kernels/multiply_add.clh"
#include "ops/convolution/conv_sizes.clh"
#include "ops/launch/epilogue.clh"

// Input rows that the strip spans.
#define SPAN ((STRIP - 1) * STRIDE_H + (KERNEL_H - 1) * DILATION_H + 1)

__kernel void conv2d_depthwise_simt(__global const float* input,
                                    int input_offset,
                                    __global const float* weights,
                                    int weights_offset,
#ifdef BIAS
                                    __global const float* bias, int bias_offset,
#endif
#ifdef ADD
                                    __global const float* add, int add_offset,
#endif
#ifdef RESIDUAL
                                    __global const float* residual,
                                    int residual_offset,
#endif
                                    __global float* output, int output_offset,
                                    float low, float high, conv_sizes sizes) {
  const int strips = (sizes.out_h + STRIP - 1) / STRIP;
  const int line = get_global_id(0) / sizes.out_w;
  const int x = get_global_id(0) - line * sizes.out_w;
  const int plane = line / strips;
  const int first_y = (line - plane * strips) * STRIP;
  if (plane >= sizes.out_channels * sizes.batch) return;
  const int oc = plane % sizes.out_channels;
  const int top = first_y * STRIDE_H - sizes.pad_h;
  // The planes of the input are fewer by the multiplier.
  input += input_offset + plane / sizes.group_outputs * sizes.in_h * sizes.in_w;
  weights += weights_offset + oc * KERNEL_H * sizes.kernel_w;

  float sums[STRIP];
#pragma unroll
  for (int i = 0; i < STRIP; ++i) sums[i] = 0.0f;
  for (int kw = 0; kw < sizes.kernel_w; ++kw) {
    const int in_x = x * sizes.stride_w - sizes.pad_w + kw * sizes.dilation_w;
    if (in_x < 0 || in_x >= sizes.in_w) continue;
    float pixels[SPAN];
#pragma unroll
    for (int i = 0; i < SPAN; ++i) {
      const int in_y = top + i;
      pixels[i] = in_y >= 0 && in_y < sizes.in_h
                      ? input[in_y * sizes.in_w + in_x]
                      : 0.0f;
    }
#pragma unroll
    for (int kh = 0; kh < KERNEL_H; ++kh) {
      const float weight = weights[kh * sizes.kernel_w + kw];
#pragma unroll
      for (int i = 0; i < STRIP; ++i) {
        sums[i] = multiply_add(pixels[i * STRIDE_H + kh * DILATION_H], weight,
                               sums[i]);
      }
    }
  }

  const float more = LOAD_BIAS(oc) + LOAD_ADD(oc);
  for (int i = 0; i < STRIP && first_y + i < sizes.out_h; ++i) {
    const int index = (plane * sizes.out_h + first_y + i) * sizes.out_w + x;
    const float result = sums[i] + more + LOAD_RESIDUAL(index);
    output[output_offset + index] = TIM_ACTIVATE(float, result, low, high);
  }
}
