// The table of ops/elements/byte_sum.h of a convolution of 8-bit codes whose
// weights or bias are no constants: for every 16 channels 16 offsets, 16
// factors and 16 zp.  C++ twin: ByteTable().
// Weights are dense [terms, channels]; `rules` is the table of channels of
// kernels/product_sum.clh.  Element c % bias_period of the bias counts for
// channel c, where that is below bias_count, and no more of it than
// `bias_most`. One work-item = one channel, with those that do not exist of the
// last 16; dimension 0 = channel.
//
// -DIN1=U8     type of the weights: U8 or I8
// -DBIAS=I32   type of the bias; without it there is none
// -DBASE       weights are constants: the table without a bias is in place of
//              them
// -DCENTERED   zp is 0 whatever the weights are; else where they fit a signed
//              byte, less their zero point

#ifndef IN1
#define IN1 U8
#endif
#define SUM INT

#include "kernels/memory16.clh"
#include "kernels/product_sum.clh"
#include "ops/convolution_i8/weight_bytes.clh"

// Parameters of signed bytes and `zero`, their zero point.
typedef struct {
  int sum;  // without it
  int least;
  int greatest;
} weight_range;

static inline weight_range range_of(__global const uchar* weights, int terms,
                                    int zero) {
  weight_range out = {0, zero, zero};
  int16 sums = 0;
  char16 least = (char)zero;
  char16 greatest = least;
  int k = 0;
  for (; k + 16 <= terms; k += 16) {
    const char16 bytes = as_char16(TIM_VLOAD16(0, weights + k, uchar) ^
                                   (uchar)(WEIGHT_FLIP & 0xff));
    sums += convert_int16(bytes);
    least = min(least, bytes);
    greatest = max(greatest, bytes);
  }
  for (; k < terms; ++k) {
    const int byte = signed_weight(weights[k]);
    out.sum += byte;
    out.least = min(out.least, byte);
    out.greatest = max(out.greatest, byte);
  }
  int lanes[16];
  TIM_VSTORE16_PRIVATE(sums, 0, lanes, int);
  for (int i = 0; i < 16; ++i) out.sum += lanes[i];
  TIM_VSTORE16_PRIVATE(convert_int16(least), 0, lanes, int);
  for (int i = 0; i < 16; ++i) out.least = min(out.least, lanes[i]);
  TIM_VSTORE16_PRIVATE(convert_int16(greatest), 0, lanes, int);
  for (int i = 0; i < 16; ++i) out.greatest = max(out.greatest, lanes[i]);
  return out;
}

__kernel void code_table(
#ifdef BASE
    __global const int* base, int base_offset,
#else
    __global const uchar* weights, int weights_offset,
#endif
    __global const int* rules, int rules_offset,
#ifdef BIAS
    __global const TIM_STORAGE(BIAS) * bias, int bias_offset,
#endif
    __global int* table, int table_offset, int channels, int terms,
    int input_zero, int bias_most, int bias_period, int bias_count) {
  const int c = get_global_id(0);
  if (c >= (channels + 15) / 16 * 16) return;
  const int row = c / 16 * 48 + c % 16;
  uint offset = 0;
  float factor = 0.0f;
  int zero = 0;
  if (c < channels) {
    const tim_channel rule = tim_load_channel(rules + rules_offset, c);
    factor = rule.factor;
#ifdef BASE
    offset = base[base_offset + row];
    zero = base[base_offset + row + 32];
#else
    const int weight_zero = rule.weight_zero - WEIGHT_MIDDLE;
    const weight_range range =
        range_of(weights + weights_offset + c * terms, terms, weight_zero);
    offset =
        (uint)input_zero * ((uint)weight_zero * (uint)terms - (uint)range.sum);
#ifndef CENTERED
    const int fits = range.least - weight_zero >= -128 &&
                     range.greatest - weight_zero <= 127;
    zero = fits ? 0 : weight_zero;
#endif
#endif
#ifdef BIAS
    if (c % bias_period < bias_count) {
      const long units =
          TIM_ADD_BIAS(BIAS, 0L, bias, bias_offset + c % bias_period, rule);
      offset += (uint)(int)clamp(units, -(long)bias_most, (long)bias_most);
    }
#endif
  }
  table += table_offset + row;
  table[0] = as_int(offset);
  table[16] = as_int(factor);
  table[32] = zero;
}
