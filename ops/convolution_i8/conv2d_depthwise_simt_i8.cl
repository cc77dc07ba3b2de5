// Convolution of 8-bit codes with one input channel for each output channel,
// for GPUs.  Formula of conv_sums.cl, sums as in ops/elements/byte_sum.h,
// with weights of 16 bits less their zero points.
// One work-item = one strip of ops/convolution/depthwise_strip.clh, which says
// the layouts.  Pixels outside of the image are the zero point.
//
// -DIN0=U8 -DOUT=U8  types: U8 or I8
// -DSTRIP, -DKERNEL_H, -DSTRIDE_H, -DDILATION_H  as there
// -DTIM_TO_ZERO      kernels/requantize.clh

#ifndef IN0
#define IN0 U8
#endif
#ifndef OUT
#define OUT U8
#endif

#include "kernels/bytes/one_byte_result.clh"
#include "ops/convolution/depthwise_strip.clh"

#define PIXEL(y)                                               \
  (inside && (y) >= 0 && (y) < sizes.in_h                      \
       ? TIM_UNSIGNED_BYTES(IN0, input[(y)*sizes.in_w + in_x]) \
       : input_zero)
// Modulo 2^32.
#define ADD_PRODUCT(sum, pixel, weight) (sum) += (uint)((pixel) * (weight))

__kernel void conv2d_depthwise_simt_i8(
    __global const uchar* input, int input_offset,
    __global const short* weights, int weights_offset,
    __global const int* table, int table_offset, __global uchar* output,
    int output_offset, int input_zero, int output_zero, int low, int high,
    conv_sizes sizes) {
  const conv_strip strip = strip_of(get_global_id(0), sizes);
  if (strip.plane >= sizes.out_channels * sizes.batch) return;
  input += input_offset + strip.in_plane;
  weights += weights_offset + strip.first_tap;

  uint sums[STRIP];
#pragma unroll
  for (int i = 0; i < STRIP; ++i) sums[i] = 0;
  for (int kw = 0; kw < sizes.kernel_w; ++kw) {
    const int in_x =
        strip.x * sizes.stride_w - sizes.pad_w + kw * sizes.dilation_w;
    const int inside = in_x >= 0 && in_x < sizes.in_w;
    ADD_COLUMN(int, sums, PIXEL, ADD_PRODUCT)
  }

  for (int i = 0; i < STRIP && strip.first_y + i < sizes.out_h; ++i) {
    const int index =
        (strip.plane * sizes.out_h + strip.first_y + i) * sizes.out_w + strip.x;
    output[output_offset + index] =
        tim_one_byte_result(as_int(sums[i]), 0, table + table_offset, strip.oc,
                            output_zero, low, high);
  }
}
