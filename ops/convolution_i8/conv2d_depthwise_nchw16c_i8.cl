// Depthwise convolution of 8-bit codes in blocks of 16 channels, for CPUs;
// formula of conv_sums.cl, sums as in ops/elements/byte_sum.h with p = w - zw.
// Input and output blocked [16, W, H, ceil(C / 16), N]; the header that makes
// the sums of a row says how weights are packed.
// One work-item = `run` rows of a block of channels, TW pixels at a time;
// dimension 0 = run of rows, dimension 2 = block + blocks * batch.
//
// -DIN0=U8 -DOUT=U8  types: U8 or I8
// -DDOT=PLAIN   form of kernels/bytes/byte_dot.clh
// -DTW=8        pixels at a time; out_w >= TW
// -DKERNEL_W=3 -DSTRIDE=1  along W
// -DQUADS=3     depthwise_quads.clh, on processors that add the products of
//               four bytes at once; without it depthwise_pairs.clh, which has
//               options of its own
// -DTIM_TO_ZERO kernels/requantize.clh

#ifndef IN0
#define IN0 U8
#endif
#ifndef OUT
#define OUT U8
#endif
#ifndef DOT
#define DOT PLAIN
#endif
#ifndef TW
#define TW 8
#endif
#ifndef KERNEL_W
#define KERNEL_W 3
#endif
#ifndef STRIDE
#define STRIDE 1
#endif

#include "kernels/bytes/byte_dot.clh"
#include "kernels/bytes/byte_result.clh"
#include "ops/convolution/conv_sizes.clh"
// Their add_row is static: it is large, and compilers put such a function in
// place only where they see that nothing else calls it.
#ifdef QUADS
#include "ops/convolution_i8/depthwise_quads.clh"
#else
#include "ops/convolution_i8/depthwise_pairs.clh"
#endif

__kernel void conv2d_depthwise_nchw16c_i8(
    __global const uchar* input, int input_offset, __global const int* weights,
    int weights_offset, __global const int* channels, int channels_offset,
    __global uchar* output, int output_offset, int input_zero, int output_zero,
    int low, int high, conv_sizes sizes, int blocks, int run) {
  const int begin = get_global_id(0) * run;
  const int end = min(begin + run, sizes.out_h);
  const int plane = get_global_id(2);
  if (begin >= end || plane >= blocks * sizes.batch) return;
  const int block = plane % blocks;
  __global const uchar* image =
      input + input_offset + plane * sizes.in_h * sizes.in_w * 16;
  __global const int* taps =
      weights + weights_offset + block * sizes.kernel_h * ROW_WEIGHTS;
  const tim_byte_channels rule =
      tim_load_byte_channels(channels + channels_offset, block,
                             sizes.out_channels, output_zero, low, high);

  for (int y = begin; y < end; ++y) {
    const int top = y * sizes.stride_h - sizes.pad_h;
    __global uchar* out_row =
        output + output_offset + (plane * sizes.out_h + y) * sizes.out_w * 16;
    for (int first_x = 0; first_x < sizes.out_w; first_x += TW) {
      // The last tile moves back into the row.
      const int x0 = min(first_x, sizes.out_w - TW);
      const int left = x0 * STRIDE - sizes.pad_w;
      int16 sum[TW];
#pragma unroll
      for (int i = 0; i < TW; ++i) sum[i] = rule.offset;
      for (int kh = 0; kh < sizes.kernel_h; ++kh) {
        const int in_y = top + kh * sizes.dilation_h;
        const int inside = in_y >= 0 && in_y < sizes.in_h;
        add_row(image + in_y * sizes.in_w * 16, left, sizes.in_w, inside,
                input_zero, taps + kh * ROW_WEIGHTS, sum);
      }
#pragma unroll
      for (int i = 0; i < TW; ++i) {
        TIM_VSTORE16(tim_whole_byte_result(sum[i], rule), x0 + i, out_row,
                     uchar);
      }
    }
  }
}
