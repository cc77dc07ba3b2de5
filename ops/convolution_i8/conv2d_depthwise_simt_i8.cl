// Convolution of 8-bit codes with one input channel for each output channel,
// dense tensors [W, H, C, N], for GPUs: as conv2d_depthwise_simt.cl.  Formula
// of conv_sums.cl, sums as in ops/elements/byte_sum.h, with weights of 16 bits
// less their zero points, [Kw, Kh, C * multiplier]. One work-item = STRIP
// neighbours along H, which share the rows that they read; dimension 0 = x +
// out_w * (strip + strips * (channel + channels * n)), so that neighbours read
// neighbouring columns.  Pixels outside of the image are the zero point.
//
// -DIN0=U8 -DOUT=U8                     types: U8 or I8
// -DSTRIP=4                             output rows of an item
// -DKERNEL_H=3 -DSTRIDE_H=1 -DDILATION_H=1  of the window along H
// -DTIM_TO_ZERO                         kernels/requantize.clh

#ifndef IN0
#define IN0 U8
#endif
#ifndef OUT
#define OUT U8
#endif
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

#include "kernels/bytes/one_byte_result.clh"
#include "ops/convolution/conv_sizes.clh"

// Input rows that the strip spans.
#define SPAN ((STRIP - 1) * STRIDE_H + (KERNEL_H - 1) * DILATION_H + 1)

__kernel void conv2d_depthwise_simt_i8(
    __global const uchar* input, int input_offset,
    __global const short* weights, int weights_offset,
    __global const int* table, int table_offset, __global uchar* output,
    int output_offset, int input_zero, int output_zero, int low, int high,
    conv_sizes sizes) {
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

  // Modulo 2^32.
  uint sums[STRIP];
#pragma unroll
  for (int i = 0; i < STRIP; ++i) sums[i] = 0;
  for (int kw = 0; kw < sizes.kernel_w; ++kw) {
    const int in_x = x * sizes.stride_w - sizes.pad_w + kw * sizes.dilation_w;
    const int inside = in_x >= 0 && in_x < sizes.in_w;
    int pixels[SPAN];
#pragma unroll
    for (int i = 0; i < SPAN; ++i) {
      const int in_y = top + i;
      pixels[i] = inside && in_y >= 0 && in_y < sizes.in_h
                      ? TIM_UNSIGNED_BYTES(IN0, input[in_y * sizes.in_w + in_x])
                      : input_zero;
    }
#pragma unroll
    for (int kh = 0; kh < KERNEL_H; ++kh) {
      const int weight = weights[kh * sizes.kernel_w + kw];
#pragma unroll
      for (int i = 0; i < STRIP; ++i) {
        sums[i] += (uint)(pixels[i * STRIDE_H + kh * DILATION_H] * weight);
      }
    }
  }

  for (int i = 0; i < STRIP && first_y + i < sizes.out_h; ++i) {
    output[output_offset + (plane * sizes.out_h + first_y + i) * sizes.out_w +
           x] = tim_one_byte_result(as_int(sums[i]), 0, table + table_offset,
                                    oc, output_zero, low, high);
  }
}
