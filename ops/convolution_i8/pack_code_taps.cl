// Weights of depthwise convolutions of 8-bit codes, less their zero points,
// packed in every run: those that are no constants, dense [Kw, Kh, channels].
//   pairs   as depthwise_pairs.clh says
//   quads   as depthwise_quads.clh says
//   shorts  where they are, 16 bits each
// Word 1 of the 5 that a channel has in `rules` is its weights' zero point.
// One work-item = one channel, with those that do not exist of the last 16, or,
// of shorts, one weight; dimension 0.
//
// -DIN1=U8  type of the weights: U8 or I8

#include "kernels/elements.clh"

#ifndef IN1
#define IN1 U8
#endif

#define RULE_WORDS 5

__kernel void pack_code_taps_pairs(__global const TIM_STORAGE(IN1) * weights,
                                   int weights_offset,
                                   __global const int* rules, int rules_offset,
                                   __global int* packed, int packed_offset,
                                   int channels, int kernel_w, int kernel_h) {
  const int c = get_global_id(0);
  if (c >= (channels + 15) / 16 * 16) return;
  const int exists = c < channels;
  const int own = min(c, channels - 1);
  const int zero = rules[rules_offset + own * RULE_WORDS + 1];
  const int pairs = (kernel_w + 1) / 2;
  weights += weights_offset + own * kernel_h * kernel_w;
  packed += packed_offset + c / 16 * kernel_h * pairs * 16 + c % 16;
  for (int kh = 0; kh < kernel_h; ++kh) {
    for (int pair = 0; pair < pairs; ++pair) {
      const int kw = 2 * pair;
      const int first = exists ? weights[kh * kernel_w + kw] - zero : 0;
      const int second = exists && kw + 1 < kernel_w
                             ? weights[kh * kernel_w + kw + 1] - zero
                             : 0;
      packed[(kh * pairs + pair) * 16] =
          as_int(((uint)second << 16) | ((uint)first & 0xffff));
    }
  }
}

__kernel void pack_code_taps_quads(__global const TIM_STORAGE(IN1) * weights,
                                   int weights_offset,
                                   __global const int* rules, int rules_offset,
                                   __global int* packed, int packed_offset,
                                   int channels, int kernel_w, int kernel_h,
                                   int stride) {
  const int c = get_global_id(0);
  if (c >= (channels + 15) / 16 * 16) return;
  const int exists = c < channels;
  const int own = min(c, channels - 1);
  const int zero = rules[rules_offset + own * RULE_WORDS + 1];
  const int row_quads = 4 / stride * 2;
  weights += weights_offset + own * kernel_h * kernel_w;
  packed += packed_offset + c / 16 * kernel_h * row_quads * 16 + c % 16;
  for (int kh = 0; kh < kernel_h; ++kh) {
    for (int quad = 0; quad < row_quads; ++quad) {
      uint word = 0;
      for (int i = 0; i < 4; ++i) {
        const int kw = quad % 2 * 4 + i - quad / 2 * stride;
        if (!exists || kw < 0 || kw >= kernel_w) continue;
        const int weight = weights[kh * kernel_w + kw] - zero;
        word |= ((uint)weight & 0xff) << (8 * i);
      }
      packed[(kh * row_quads + quad) * 16] = as_int(word);
    }
  }
}

__kernel void pack_code_taps_shorts(__global const TIM_STORAGE(IN1) * weights,
                                    int weights_offset,
                                    __global const int* rules, int rules_offset,
                                    __global short* packed, int packed_offset,
                                    int channels, int taps) {
  const int i = get_global_id(0);
  if (i >= channels * taps) return;
  packed[packed_offset + i] =
      (short)(weights[weights_offset + i] -
              rules[rules_offset + i / taps * RULE_WORDS + 1]);
}
