// Float32 convolution in blocks of 16 channels where groups are narrow: output
// channel c reads the GROUP_CHANNELS input channels of its group, which are as
// many (1: a depthwise convolution); formula of conv_sums.cl, summed by
// multiply_add in the order (kh, ic, kw).
// Input and output blocked [16, W, H, ceil(C / 16), N]; weights packed [16, Kw,
// GROUP_CHANNELS, Kh, ceil(C / 16)], zero where there is no channel.
// One work-item = one row of a block of channels, TW pixels at a time;
// dimension 0 = row, dimension 2 = block + blocks * batch.
//
// -DGROUP_CHANNELS=4  1, 2, 4 or 8
// -DBIAS, -DADD a float per channel that is added; more in depthwise_row.clh
// -DBY_CHANNEL  a formula of two operands, nchw16c.clh; the second is a float
//               per channel
// -DACTIVATE    kernels/activate.clh

#include "ops/convolution/conv_sizes.clh"
#include "ops/convolution/depthwise_row.clh"
#include "ops/convolution/nchw16c.clh"
#include "ops/launch/epilogue_parameters.clh"

#ifndef GROUP_CHANNELS
#define GROUP_CHANNELS 1
#endif

// Channel c of its group in every lane.
static inline float16 of_group(float16 pixel, int c) {
#if GROUP_CHANNELS == 2
  return c == 0 ? pixel.s0022446688aaccee : pixel.s1133557799bbddff;
#elif GROUP_CHANNELS == 4
  return c == 0   ? pixel.s000044448888cccc
         : c == 1 ? pixel.s111155559999dddd
         : c == 2 ? pixel.s22226666aaaaeeee
                  : pixel.s33337777bbbbffff;
#elif GROUP_CHANNELS == 8
  return c == 0   ? pixel.s0000000088888888
         : c == 1 ? pixel.s1111111199999999
         : c == 2 ? pixel.s22222222aaaaaaaa
         : c == 3 ? pixel.s33333333bbbbbbbb
         : c == 4 ? pixel.s44444444cccccccc
         : c == 5 ? pixel.s55555555dddddddd
         : c == 6 ? pixel.s66666666eeeeeeee
                  : pixel.s77777777ffffffff;
#else
  return pixel;
#endif
}

#define READ(i) TIM_VLOAD16(i, row, float)

__kernel void conv2d_depthwise_nchw16c(__global const float* input,
                                       int input_offset,
                                       __global const float* weights,
                                       int weights_offset,
                                       TIM_EPILOGUE_PARAMETERS,
                                       conv_sizes sizes, int blocks) {
  const int y = get_global_id(0);
  const int plane = get_global_id(2);
  if (y >= sizes.out_h || plane >= blocks * sizes.batch) return;
  const int block = plane % blocks;
  const int top = y * sizes.stride_h - sizes.pad_h;
  __global const float* image =
      input + input_offset + plane * sizes.in_h * sizes.in_w * 16;
  __global const float* taps =
      weights + weights_offset +
      block * sizes.kernel_h * GROUP_CHANNELS * KERNEL_W * 16;
  __global float* out_row =
      output + output_offset + (plane * sizes.out_h + y) * sizes.out_w * 16;
  const float16 more = LOAD_MORE(block * 16);
#ifdef BY_CHANNEL
  const float16 number =
      load_channels(by + by_offset, block * 16, sizes.out_channels);
#endif
  const int16 mask = channel_mask(block * 16, sizes.out_channels);

  for (int first_x = 0; first_x < sizes.out_w; first_x += TW) {
    // The last tile moves back into the row.
    const int x0 = min(first_x, sizes.out_w - TW);
    const int left = x0 * STRIDE - sizes.pad_w;
    fetch_tile(out_row + (sizes.out_w + x0) * 16);
    float16 sum[TW];
#pragma unroll
    for (int i = 0; i < TW; ++i) sum[i] = 0.0f;
    for (int kh = 0; kh < sizes.kernel_h; ++kh) {
      const int in_y = top + kh * sizes.dilation_h;
      if (in_y < 0 || in_y >= sizes.in_h) continue;
      __global const float* row = image + (in_y * sizes.in_w + left) * 16;
      float16 pixels[SPAN];
      LOAD_PIXELS(pixels, left, sizes.in_w, READ)
#if GROUP_CHANNELS == 1
      add_row(pixels, taps + kh * KERNEL_W * 16, sum);
#else
#pragma unroll
      for (int c = 0; c < GROUP_CHANNELS; ++c) {
        float16 channel[SPAN];
#pragma unroll
        for (int i = 0; i < SPAN; ++i) channel[i] = of_group(pixels[i], c);
        add_row(channel, taps + (kh * GROUP_CHANNELS + c) * KERNEL_W * 16, sum);
      }
#endif
    }
#pragma unroll
    for (int i = 0; i < TW; ++i) {
      const float16 result = FINISH_BY(sum[i] + more, number, low, high);
      TIM_VSTORE16(select((float16)0.0f, result, mask), x0 + i, out_row, float);
    }
#ifdef ACTIVATE
    for (int i = 0; i < TW; ++i) {
      activate_stored(out_row + (x0 + i) * 16, mask, low, high);
    }
#endif
  }
}
