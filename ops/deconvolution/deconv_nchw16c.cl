// Float32 transposed convolution in blocks of 16 channels, one group or several
// of whole blocks; formula of conv_sums.cl, summed by multiply_add in the order
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

#include "ops/convolution/channel_sums.clh"
#include "ops/convolution/conv_sizes.clh"
#include "ops/convolution/nchw16c.clh"
#include "ops/launch/epilogue_parameters.clh"

#ifdef RESIDUAL
#define LOAD_RESIDUAL(at) TIM_VLOAD16(at, residual + residual_offset, float)
#else
#define LOAD_RESIDUAL(at) 0.0f
#endif

// a / b towards minus infinity: pads may be negative.
static inline int floor_divide(int a, int b) {
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

// A phase along an axis: every stride-th tap from `tap` on.  The first of them
// reads position `first` of the input for the phase's first position, each next
// one reads a position before.
typedef struct {
  int count;  // positions of the output
  int tap, taps;
  int before;  // taps of the phases before
  int first;
} axis_phase;

static inline axis_phase phase_of(int phase, int out, int kernel_size,
                                  int stride, int pad) {
  axis_phase axis;
  axis.count = (out - phase + stride - 1) / stride;
  axis.first = floor_divide(phase + pad, stride);
  axis.tap = phase + pad - axis.first * stride;
  axis.taps = (kernel_size - axis.tap + stride - 1) / stride;
  axis.before =
      axis.tap * (kernel_size / stride) + min(axis.tap, kernel_size % stride);
  return axis;
}

// Stores the pixels of a block of channels from number `new` on, which are
// `step` apart, tail lanes as 0.
#define STORE_BLOCK(sum, channel, first, new, step)                      \
  {                                                                      \
    const float16 more = LOAD_MORE(channel);                             \
    const int16 mask = channel_mask(channel, sizes.out_channels);        \
    __global float* out = output + output_offset;                        \
    _Pragma("unroll") for (int i = 0; i < TW; ++i) {                     \
      if (i < (new)) continue;                                           \
      const int at = (first) + i * (step);                               \
      const float16 result =                                             \
          FINISH(sum[i] + more + LOAD_RESIDUAL(at), low, high);          \
      TIM_VSTORE16(select((float16)0.0f, result, mask), at, out, float); \
    }                                                                    \
    ACTIVATE_BLOCK(mask, first, new, step)                               \
  }
#ifdef ACTIVATE
#define ACTIVATE_BLOCK(mask, first, new, step)                           \
  for (int i = new; i < TW; ++i) {                                       \
    activate_stored(out + ((first) + i * (step)) * 16, mask, low, high); \
  }
#else
#define ACTIVATE_BLOCK(mask, first, new, step)
#endif

#define PIXEL(i) pixel[(i)*16]
#define TAP_FLOATS (16 * BLOCKS * 16)

__kernel void deconv_nchw16c(__global const float* input, int input_offset,
                             __global const float* weights, int weights_offset,
                             TIM_EPILOGUE_PARAMETERS, conv_sizes sizes,
                             int in_blocks, int tiles, int run) {
  const int phase_y = get_global_id(1);
  const axis_phase y = phase_of(phase_y, sizes.out_h, sizes.kernel_h,
                                sizes.stride_h, sizes.pad_h);
  const int row_tiles =
      ((sizes.out_w + sizes.stride_w - 1) / sizes.stride_w + TW - 1) / TW;
  const int begin = get_global_id(0) * run;
  const int end = min(begin + run, row_tiles * y.count);
  const int tile = get_global_id(2) % tiles;
  const int n = get_global_id(2) / tiles;
  if (begin >= end || phase_y >= sizes.stride_h || n >= sizes.batch) return;
  const int out_blocks = (sizes.out_channels + 15) / 16;
  const int out_plane = sizes.out_h * sizes.out_w;
  const int in_step = sizes.in_h * sizes.in_w * 16;
  const int w_step = sizes.kernel_h * sizes.kernel_w * TAP_FLOATS;
  const int group =
      (n * sizes.out_channels + tile * BLOCKS * 16) / sizes.group_outputs;
  input += input_offset + group * in_blocks * in_step;
  weights += weights_offset + tile * in_blocks * w_step +
             y.tap * sizes.kernel_w * TAP_FLOATS;
  // One phase after the other: its weights stay in the first cache, and the
  // lines between its pixels in the second.
  const int count = end - begin;
  for (int i = 0; i < count * sizes.stride_w; ++i) {
    const int phase_x = i / count;
    const int t = begin + i % count;
    const axis_phase x = phase_of(phase_x, sizes.out_w, sizes.kernel_w,
                                  sizes.stride_w, sizes.pad_w);
    // The last tile of a row moves back into it and stores its own pixels only.
    const int first_new = t % row_tiles * TW;
    if (first_new >= x.count) continue;
    const int x0 = min(first_new, x.count - TW);
    const int y0 = t / row_tiles;
    const int left = x.first + x0 - (x.taps - 1);
    float16 sum[BLOCKS][TW];
    EACH_SUM(b, i, TW) sum[b][i] = 0.0f;
    for (int block = 0; block < in_blocks; ++block) {
      for (int kh = 0; kh < y.taps; ++kh) {
        const int in_y = y.first + y0 - kh;
        if (in_y < 0 || in_y >= sizes.in_h) continue;
        float pixels[SPAN * 16];
        copy_pixels(input + block * in_step + (in_y * sizes.in_w + left) * 16,
                    left, sizes.in_w, 1, SPAN, pixels);
        __global const float* weight =
            weights + block * w_step +
            (kh * sizes.stride_h * sizes.kernel_w + x.before) * TAP_FLOATS;
        for (int kw = 0; kw < x.taps; ++kw) {
          const float* pixel = pixels + (x.taps - 1 - kw) * 16;
          for (int c = 0; c < 16; ++c, weight += BLOCKS * 16, ++pixel) {
            ADD_CHANNEL(sum, TW, weight, PIXEL)
          }
        }
      }
    }
    const int row = (n * out_blocks + tile * BLOCKS) * sizes.out_h + phase_y +
                    y0 * sizes.stride_h;
    const int first = row * sizes.out_w + phase_x + x0 * sizes.stride_w;
#pragma unroll
    for (int b = 0; b < BLOCKS; ++b) {
      const int block = tile * BLOCKS + b;
      if (block >= out_blocks) break;
      STORE_BLOCK(sum[b], block * 16, first + b * out_plane, first_new - x0,
                  sizes.stride_w)
    }
  }
}
