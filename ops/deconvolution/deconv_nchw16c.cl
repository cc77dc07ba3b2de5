// Float32 transposed convolution in blocks of 16 channels, one group or several
// of whole blocks; formula as in deconv.cl, summed by multiply_add in the order
// (block of ic, kh, kw, ic).
// Output positions that differ by a multiple of the stride are of one phase:
// the same taps reach them, every stride-th one, and so many input pixels are
// neighbours as they are.  A phase is a convolution of stride 1.
// Input and output blocked [16, W, H, ceil(C / 16), N]; weights packed
// [BLOCKS * 16 oc, 16 ic, Kw, Kh, blocks of ic of a group, tiles of oc], zero
// where there is no channel, the taps of a row in the order of their phases.
// A tile is TW neighbouring pixels of a row of a phase and BLOCKS blocks of
// output channels of one group.  One work-item = `run` tiles of each phase
// along x, which count along x, then along y; dimension 0 = run of tiles,
// dimension 1 = phase along y, dimension 2 = tile of channels + tiles * batch.
//
// -DTW=14       pixels of a tile; the phase with the fewest has TW in a row, or
//               TW is 1
// -DBLOCKS=2    1 to 3 blocks of output channels
// -DSPAN=15     pixels copied from each input row, at least
//               TW - 1 + ceil(kernel_w / stride_w)
// -DBIAS, -DADD a float per output channel that is added
// -DRESIDUAL    a blocked tensor of the output's shape that is added
// -DACTIVATE    kernels/activate.clh

#ifndef TW
#define TW 14
#endif
#ifndef BLOCKS
#define BLOCKS 2
#endif
#ifndef SPAN
#define SPAN 15
#endif

#include "kernels/memory16.clh"
#include "kernels/multiply_add.clh"
#include "ops/convolution/conv_sizes.clh"
#include "ops/convolution/nchw16c.clh"

#ifdef RESIDUAL
#define LOAD_RESIDUAL(at) TIM_VLOAD16(at, residual_block, float)
#else
#define LOAD_RESIDUAL(at) 0.0f
#endif

// a / b towards minus infinity: pads may be negative.
static inline int floor_divide(int a, int b) {
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

__kernel void deconv_nchw16c(__global const float* input, int input_offset,
                             __global const float* weights, int weights_offset,
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
                             float low, float high, conv_sizes sizes,
                             int in_blocks, int tiles, int run) {
  const int phase_y = get_global_id(1);
  const int rows =
      (sizes.out_h - phase_y + sizes.stride_h - 1) / sizes.stride_h;
  const int row_tiles =
      ((sizes.out_w + sizes.stride_w - 1) / sizes.stride_w + TW - 1) / TW;
  const int begin = get_global_id(0) * run;
  const int end = min(begin + run, row_tiles * rows);
  const int tile = get_global_id(2) % tiles;
  const int n = get_global_id(2) / tiles;
  if (begin >= end || phase_y >= sizes.stride_h || n >= sizes.batch) return;
  const int out_blocks = (sizes.out_channels + 15) / 16;
  const int out_plane = sizes.out_h * sizes.out_w;
  const int in_step = sizes.in_h * sizes.in_w * 16;
  const int tap_floats = 16 * BLOCKS * 16;
  const int w_step = sizes.kernel_h * sizes.kernel_w * tap_floats;

  // The rows of taps of the phase, and where the first of them reads for its
  // first row of pixels; the next ones read one row before.
  const int first_y = floor_divide(phase_y + sizes.pad_h, sizes.stride_h);
  const int first_kh = phase_y + sizes.pad_h - first_y * sizes.stride_h;
  const int taps_h =
      (sizes.kernel_h - first_kh + sizes.stride_h - 1) / sizes.stride_h;
  const int groups = sizes.out_channels / sizes.group_outputs;
  const int group = tile * BLOCKS * 16 / sizes.group_outputs;
  input += input_offset + (n * groups + group) * in_blocks * in_step;
  weights += weights_offset + tile * in_blocks * w_step +
             first_kh * sizes.kernel_w * tap_floats;

  // One phase after the other: its weights stay in the first cache, and the
  // lines between its pixels in the second.
  const int count = end - begin;
  for (int i = 0; i < count * sizes.stride_w; ++i) {
    const int phase_x = i / count;
    const int t = begin + i % count;
    const int columns =
        (sizes.out_w - phase_x + sizes.stride_w - 1) / sizes.stride_w;
    // The last tile of a row moves back into it and stores its own pixels only.
    const int first_new = t % row_tiles * TW;
    if (first_new >= columns) continue;
    const int x0 = min(first_new, columns - TW);
    const int y0 = t / row_tiles;
    // The taps of the phase, likewise.
    const int first_x = floor_divide(phase_x + sizes.pad_w, sizes.stride_w);
    const int first_kw = phase_x + sizes.pad_w - first_x * sizes.stride_w;
    const int taps_w =
        (sizes.kernel_w - first_kw + sizes.stride_w - 1) / sizes.stride_w;
    const int left = first_x + x0 - (taps_w - 1);
    const int before = first_kw * (sizes.kernel_w / sizes.stride_w) +
                       min(first_kw, sizes.kernel_w % sizes.stride_w);
    const int place = (phase_y + y0 * sizes.stride_h) * sizes.out_w + phase_x +
                      x0 * sizes.stride_w;
    __global float* out = output + output_offset +
                          (n * out_blocks + tile * BLOCKS) * out_plane * 16;

    float16 sum[BLOCKS][TW];
#pragma unroll
    for (int b = 0; b < BLOCKS; ++b) {
#pragma unroll
      for (int i = 0; i < TW; ++i) sum[b][i] = 0.0f;
    }
    for (int block = 0; block < in_blocks; ++block) {
      for (int kh = 0; kh < taps_h; ++kh) {
        const int in_y = first_y + y0 - kh;
        if (in_y < 0 || in_y >= sizes.in_h) continue;
        __global const float* row =
            input + block * in_step + (in_y * sizes.in_w + left) * 16;
        float pixels[SPAN * 16];
        for (int i = 0; i < SPAN; ++i) {
          float16 value = 0.0f;
          if (left + i >= 0 && left + i < sizes.in_w) {
            value = TIM_VLOAD16(i, row, float);
          }
          TIM_VSTORE16_PRIVATE(value, i, pixels, float);
        }
        __global const float* weight =
            weights + block * w_step +
            (kh * sizes.stride_h * sizes.kernel_w + before) * tap_floats;
        for (int kw = 0; kw < taps_w; ++kw) {
          const float* pixel = pixels + (taps_w - 1 - kw) * 16;
          for (int c = 0; c < 16; ++c, weight += BLOCKS * 16, ++pixel) {
            float16 w[BLOCKS];
#pragma unroll
            for (int b = 0; b < BLOCKS; ++b) {
              w[b] = TIM_VLOAD16(b, weight, float);
            }
#pragma unroll
            for (int i = 0; i < TW; ++i) {
              const float16 x = (float16)(pixel[i * 16]);
#pragma unroll
              for (int b = 0; b < BLOCKS; ++b) {
                sum[b][i] = multiply_add(x, w[b], sum[b][i]);
              }
            }
          }
        }
      }
    }

#pragma unroll
    for (int b = 0; b < BLOCKS; ++b) {
      if (tile * BLOCKS + b >= out_blocks) break;
      const int channel = (tile * BLOCKS + b) * 16;
      float16 more = 0.0f;
#ifdef BIAS
      more += load_channels(bias + bias_offset, channel, sizes.out_channels);
#endif
#ifdef ADD
      more += load_channels(add + add_offset, channel, sizes.out_channels);
#endif
      const int16 mask = channel_mask(channel, sizes.out_channels);
      __global float* out_block = out + b * out_plane * 16;
#ifdef RESIDUAL
      __global const float* residual_block =
          residual + residual_offset +
          (n * out_blocks + tile * BLOCKS + b) * out_plane * 16;
#endif
#pragma unroll
      for (int i = 0; i < TW; ++i) {
        if (x0 + i < first_new) continue;
        const int at = place + i * sizes.stride_w;
        const float16 result =
            FINISH(sum[b][i] + more + LOAD_RESIDUAL(at), low, high);
        TIM_VSTORE16(select((float16)0.0f, result, mask), at, out_block, float);
      }
#ifdef ACTIVATE
      for (int i = 0; i < TW; ++i) {
        if (x0 + i < first_new) continue;
        activate_stored(out_block + (place + i * sizes.stride_w) * 16, mask,
                        low, high);
      }
#endif
    }
  }
}
