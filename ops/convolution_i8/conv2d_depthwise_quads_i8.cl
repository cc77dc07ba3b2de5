// Depthwise convolution of 8-bit codes in blocks of 16 channels, for CPUs that
// add the products of four bytes at once; formula as in conv2d.cl, sums as in
// ops/elements/byte_sum.h with p = w - zw, which fits 8 bits.
// A quad = four neighbouring pixels of a row: lane c holds those of channel c.
// Output i of a tile lies at pixel i * STRIDE and sums one quad or two, with
// its weights moved to where the pixels are in them.
// Input and output blocked [16, W, H, ceil(C / 16), N]; weights packed
// [4 pixels, 16, 2 quads, 4 / STRIDE places in a quad, Kh, ceil(C / 16)], zero
// where there is none.
// One work-item = `run` rows of a block of channels, TW pixels at a time;
// dimension 0 = run of rows, dimension 2 = block + blocks * batch.
//
// -DIN0=U8 -DOUT=U8  types: U8 or I8
// -DDOT=PLAIN   form of kernels/bytes/byte_dot.clh
// -DTW=14       pixels at a time; out_w >= TW
// -DKERNEL_W=3  at most 5
// -DSTRIDE=1    along W: 1 or 2
// -DQUADS=4     that TW pixels read
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
#define TW 14
#endif
#ifndef KERNEL_W
#define KERNEL_W 3
#endif
#ifndef STRIDE
#define STRIDE 1
#endif
#ifndef QUADS
#define QUADS 4
#endif

#include "kernels/bytes/byte_dot.clh"
#include "kernels/bytes/byte_result.clh"
#include "kernels/bytes/quads.clh"

#define PLACES (4 / STRIDE)

#ifdef __AVX512F__
// Pixels x to x + 3 of a row, `zero` where there are none: those that a mask
// leaves out are not read.
inline int16 load_pixels(__global const uchar* row, int x, int in_w, int inside,
                         int zero) {
  const int before = clamp(-x, 0, 4);
  const int end = inside ? clamp(in_w - x, 0, 4) : 0;
  const uint there = ((1u << (4 * end)) - 1) >> (4 * before) << (4 * before);
  return __builtin_astype(
      __builtin_ia32_loaddqusi512_mask((const void*)(size_t)(row + x * 16),
                                       (int16)(zero), (ushort)there),
      int16);
}
#else
inline int4 load_pixel(__global const uchar* row, int x, int in_w, int zero) {
  if (x < 0 || x >= in_w) return zero;
  return as_int4(TIM_VLOAD16(x, row, uchar));
}

inline int16 load_pixels(__global const uchar* row, int x, int in_w, int inside,
                         int zero) {
  if (!inside) return zero;
  if (x >= 0 && x + 4 <= in_w) return TIM_VLOAD16(0, row + x * 16, int);
  return (int16)(load_pixel(row, x, in_w, zero),
                 load_pixel(row, x + 1, in_w, zero),
                 load_pixel(row, x + 2, in_w, zero),
                 load_pixel(row, x + 3, in_w, zero));
}
#endif

inline int16 load_quad(__global const uchar* row, int x, int in_w, int inside,
                       int zero) {
  return tim_channels_of_quad(
      TIM_UNSIGNED_INTS(IN0, load_pixels(row, x, in_w, inside, zero)));
}

__kernel void conv2d_depthwise_quads_i8(
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
  const int zero =
      TIM_UNSIGNED_INTS(IN0, as_int((uint)input_zero * 0x01010101));
  __global const uchar* image = input + input_offset + plane * in_h * in_w * 16;
  __global const int* taps =
      weights + weights_offset + block * kernel_h * PLACES * 2 * 16;
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
        __global const uchar* row = image + in_y * in_w * 16;
        __global const int* w = taps + kh * PLACES * 2 * 16;
        int16 quad = load_quad(row, left, in_w, inside, zero);
#pragma unroll
        for (int q = 0; q < QUADS; ++q) {
          int16 next = 0;
          if (q + 1 < QUADS) {
            next = load_quad(row, left + 4 * (q + 1), in_w, inside, zero);
          }
#pragma unroll
          for (int place = 0; place < PLACES; ++place) {
            const int i = q * PLACES + place;
            if (i >= TW) continue;
            TIM_DOT(DOT, sum[i], quad, TIM_VLOAD16(2 * place, w, int));
            if (place * STRIDE + KERNEL_W > 4) {
              TIM_DOT(DOT, sum[i], next, TIM_VLOAD16(2 * place + 1, w, int));
            }
          }
          quad = next;
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
