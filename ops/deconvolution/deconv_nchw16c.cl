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

__kernel void deconv_nchw16c(
    __global const float* input, int input_offset,
    __global const float* weights, int weights_offset,
#ifdef BIAS
    __global const float* bias, int bias_offset,
#endif
#ifdef ADD
    __global const float* add, int add_offset,
#endif
#ifdef RESIDUAL
    __global const float* residual, int residual_offset,
#endif
    __global float* output, int output_offset, float low, float high, int in_w,
    int in_h, int in_blocks, int group_outputs, int kernel_w, int kernel_h,
    int out_w, int out_h, int out_channels, int tiles, int batch, int stride_w,
    int stride_h, int pad_left, int pad_top, int run) {
  const int phase_y = get_global_id(1);
  const int rows = (out_h - phase_y + stride_h - 1) / stride_h;
  const int row_tiles = ((out_w + stride_w - 1) / stride_w + TW - 1) / TW;
  const int begin = get_global_id(0) * run;
  const int end = min(begin + run, row_tiles * rows);
  const int tile = get_global_id(2) % tiles;
  const int n = get_global_id(2) / tiles;
  if (begin >= end || phase_y >= stride_h || n >= batch) return;
  const int out_blocks = (out_channels + 15) / 16;
  const int out_plane = out_h * out_w;
  const int in_step = in_h * in_w * 16;
  const int tap_floats = 16 * BLOCKS * 16;
  const int w_step = kernel_h * kernel_w * tap_floats;

  // The rows of taps of the phase, and where the first of them reads for its
  // first row of pixels; the next ones read one row before.
  const int first_y = floor_divide(phase_y + pad_top, stride_h);
  const int first_kh = phase_y + pad_top - first_y * stride_h;
  const int taps_h = (kernel_h - first_kh + stride_h - 1) / stride_h;
  const int groups = out_channels / group_outputs;
  const int group = tile * BLOCKS * 16 / group_outputs;
  input += input_offset + (n * groups + group) * in_blocks * in_step;
  weights += weights_offset + tile * in_blocks * w_step +
             first_kh * kernel_w * tap_floats;

  // One phase after the other: its weights stay in the first cache, and the
  // lines between its pixels in the second.
  const int count = end - begin;
  for (int i = 0; i < count * stride_w; ++i) {
    const int phase_x = i / count;
    const int t = begin + i % count;
    const int columns = (out_w - phase_x + stride_w - 1) / stride_w;
    // The last tile of a row moves back into it and stores its own pixels only.
    const int first_new = t % row_tiles * TW;
    if (first_new >= columns) continue;
    const int x0 = min(first_new, columns - TW);
    const int y0 = t / row_tiles;
    // The taps of the phase, likewise.
    const int first_x = floor_divide(phase_x + pad_left, stride_w);
    const int first_kw = phase_x + pad_left - first_x * stride_w;
    const int taps_w = (kernel_w - first_kw + stride_w - 1) / stride_w;
    const int left = first_x + x0 - (taps_w - 1);
    const int before =
        first_kw * (kernel_w / stride_w) + min(first_kw, kernel_w % stride_w);
    const int place =
        (phase_y + y0 * stride_h) * out_w + phase_x + x0 * stride_w;
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
        if (in_y < 0 || in_y >= in_h) continue;
        __global const float* row =
            input + block * in_step + (in_y * in_w + left) * 16;
        float pixels[SPAN * 16];
        for (int i = 0; i < SPAN; ++i) {
          float16 value = 0.0f;
          if (left + i >= 0 && left + i < in_w) {
            value = TIM_VLOAD16(i, row, float);
          }
          TIM_VSTORE16_PRIVATE(value, i, pixels, float);
        }
        __global const float* weight =
            weights + block * w_step +
            (kh * stride_h * kernel_w + before) * tap_floats;
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
      more += load_channels(bias + bias_offset, channel, out_channels);
#endif
#ifdef ADD
      more += load_channels(add + add_offset, channel, out_channels);
#endif
      const int16 mask = channel_mask(channel, out_channels);
      __global float* out_block = out + b * out_plane * 16;
#ifdef RESIDUAL
      __global const float* residual_block =
          residual + residual_offset +
          (n * out_blocks + tile * BLOCKS + b) * out_plane * 16;
#endif
#pragma unroll
      for (int i = 0; i < TW; ++i) {
        if (x0 + i < first_new) continue;
        const int at = place + i * stride_w;
        const float16 result =
            FINISH(sum[b][i] + more + LOAD_RESIDUAL(at), low, high);
        TIM_VSTORE16(select((float16)0.0f, result, mask), at, out_block, float);
      }
#ifdef ACTIVATE
      for (int i = 0; i < TW; ++i) {
        if (x0 + i < first_new) continue;
        activate_stored(out_block + (place + i * stride_w) * 16, mask, low,
                        high);
      }
#endif
    }
  }
}
