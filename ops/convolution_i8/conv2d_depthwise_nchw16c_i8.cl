// Depthwise convolution of 8-bit codes in blocks of 16 channels, for CPUs;
// formula as in conv2d.cl, sums as in ops/elements/byte_sum.h with p = w - zw.
// Input and output blocked [16, W, H, ceil(C / 16), N]; weights packed [2 kw,
// 16, ceil(Kw / 2), Kh, ceil(C / 16)] of 16 bits each, zero where there is
// none. One work-item = `run` rows of a block of channels, TW pixels at a time;
// dimension 0 = run of rows, dimension 2 = block + blocks * batch.
//
// -DIN0=U8 -DOUT=U8  types: U8 or I8
// -DDOT=PLAIN   form of kernels/bytes/byte_dot.clh
// -DTW=8        pixels at a time; out_w >= TW
// -DKERNEL_W=3 -DSTRIDE=1 -DDILATION=1  along W
// -DSPAN=10     input pixels that these read:
//               (TW - 1) * STRIDE + (KERNEL_W - 1) * DILATION + 1
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
#ifndef DILATION
#define DILATION 1
#endif
#ifndef SPAN
#define SPAN 10
#endif

#include "kernels/bytes/byte_dot.clh"
#include "kernels/bytes/byte_result.clh"

#define PAIRS ((KERNEL_W + 1) / 2)

__kernel void conv2d_depthwise_nchw16c_i8(
    __global const uchar* input, int input_offset, __global const int* weights,
    int weights_offset, __global const int* channels, int channels_offset,
    __global uchar* output, int output_offset, int input_zero, int output_zero,
    int low, int high, int in_w, int in_h, int kernel_h, int out_w, int out_h,
    int out_channels, int blocks, int batch, int stride_h, int dilation_h,
    int pad_left, int pad_top, int run) {
  const int begin = get_global_id(0) * run;
  const int end = min(begin + run, out_h);
  const int plane = get_global_id(2);
  if (begin >= end || plane >= blocks * batch) return;
  const int block = plane % blocks;
  __global const uchar* image = input + input_offset + plane * in_h * in_w * 16;
  __global const int* taps =
      weights + weights_offset + block * kernel_h * PAIRS * 16;
  const tim_byte_channels rule = tim_load_byte_channels(
      channels + channels_offset, block, out_channels, output_zero, low, high);

  for (int y = begin; y < end; ++y) {
    const int top = y * stride_h - pad_top;
    __global uchar* out_row =
        output + output_offset + (plane * out_h + y) * out_w * 16;
    for (int first_x = 0; first_x < out_w; first_x += TW) {
      // The last tile moves back into the row.
      const int x0 = min(first_x, out_w - TW);
      const int left = x0 * STRIDE - pad_left;
      int16 sum[TW];
#pragma unroll
      for (int i = 0; i < TW; ++i) sum[i] = rule.offset;
      for (int kh = 0; kh < kernel_h; ++kh) {
        const int in_y = top + kh * dilation_h;
        const int inside = in_y >= 0 && in_y < in_h;
        __global const uchar* row = image + (in_y * in_w + left) * 16;
        int16 pixels[SPAN];
        if (inside && left >= 0 && left + SPAN <= in_w) {
#pragma unroll
          for (int i = 0; i < SPAN; ++i) {
            pixels[i] = convert_int16(
                TIM_UNSIGNED_BYTES(IN0, TIM_VLOAD16(i, row, uchar)));
          }
        } else {
#pragma unroll
          for (int i = 0; i < SPAN; ++i) {
            pixels[i] = input_zero;
            if (inside && left + i >= 0 && left + i < in_w) {
              pixels[i] = convert_int16(
                  TIM_UNSIGNED_BYTES(IN0, TIM_VLOAD16(i, row, uchar)));
            }
          }
        }
#pragma unroll
        for (int pair = 0; pair < PAIRS; ++pair) {
          const int16 w = TIM_VLOAD16(kh * PAIRS + pair, taps, int);
#pragma unroll
          for (int i = 0; i < TW; ++i) {
            const int at = i * STRIDE + 2 * pair * DILATION;
            int16 x = pixels[at];
            if (2 * pair + 1 < KERNEL_W) {
              x |= pixels[min(at + DILATION, SPAN - 1)] << 16;
            }
            TIM_DOT_PAIR(DOT, sum[i], x, w);
          }
        }
      }
#pragma unroll
      for (int i = 0; i < TW; ++i) {
        TIM_VSTORE16(tim_whole_byte_result(sum[i], rule), x0 + i, out_row,
                     uchar);
      }
    }
  }
}
