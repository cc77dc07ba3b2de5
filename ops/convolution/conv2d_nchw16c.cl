// Direct float32 convolution in blocks of 16 channels, one group or several of
// whole blocks; formula as in conv2d.cl, summed by multiply_add in the order
// (block of ic, kh, kw, ic).
// Output blocked [16, W, H, ceil(Oc / 16), N]; input the same, or dense where
// IC_BLOCK is 1.  Weights packed [BLOCKS * 16 oc, IC_BLOCK ic, Kw, Kh,
// blocks of ic of a group, tiles of oc], zero where there is no channel.
// A tile has ROWS rows of TW neighbouring pixels and BLOCKS blocks of output
// channels of one group.  One work-item = `run` tiles of an image, which count
// along x, then along y; dimension 0 = run of tiles, dimension 2 = tile of
// channels + tiles * batch.
// The tiles of a work-item go through `chunk` input blocks together before the
// next ones, so that all of them find these weights in a cache; there are at
// most KEPT of them where those are not all input blocks.  Every tile fetches
// ahead a part of the weights that come next: those of the next chunk, divided
// among `run` tiles, or those of the next tile of channels, divided among all
// tiles of the image.
//
// -DTW=14       pixels of a row; out_w >= TW
// -DROWS=1      1 or 2 rows; out_h >= ROWS
// -DBLOCKS=2    1 to 3 blocks of output channels
// -DSTRIDE=1    stride along W
// -DIC_BLOCK=16 input channels per block: 16, or 1 for a dense input
// -DREST=8      channels that the last input block has, where it is not full;
//               no argument, as the loop over full blocks is 5 % faster with a
//               constant end
// -DKEPT=8      tiles whose sums a work-item can keep
// -DSPAN=16     pixels copied from each input row, at least
//               (TW - 1) * STRIDE + (kernel_w - 1) * dilation_w + 1
// -DDIRECT      instead of -DSPAN: kernel_w is 1 and every pixel lies inside of
//               the row, with ROWS=2 inside of the image, so that nothing is
//               copied
// -DBIAS, -DADD a float per output channel that is added
// -DRESIDUAL    a blocked tensor of the output's shape that is added
// -DBY_CHANNEL  a formula of two operands, nchw16c.clh; the second is a float
//               per output channel
// -DACTIVATE    kernels/activate.clh

#ifndef TW
#define TW 14
#endif
#ifndef ROWS
#define ROWS 1
#endif
#ifndef BLOCKS
#define BLOCKS 2
#endif
#ifndef STRIDE
#define STRIDE 1
#endif
#ifndef IC_BLOCK
#define IC_BLOCK 16
#endif
#ifndef SPAN
#define SPAN 16
#endif
#ifndef KEPT
#define KEPT 8
#endif

#include "kernels/fetch_ahead.clh"
#include "kernels/memory16.clh"
#include "kernels/multiply_add.clh"
#include "ops/convolution/conv_sizes.clh"
#include "ops/convolution/nchw16c.clh"

#ifdef BIAS
#define LOAD_BIAS(block) \
  load_channels(bias + bias_offset, (block)*16, sizes.out_channels)
#else
#define LOAD_BIAS(block) 0.0f
#endif
#ifdef ADD
#define LOAD_ADD(block) \
  load_channels(add + add_offset, (block)*16, sizes.out_channels)
#else
#define LOAD_ADD(block) 0.0f
#endif

#ifdef BY_CHANNEL
#define LOAD_BY(block) \
  load_channels(by + by_offset, (block)*16, sizes.out_channels)
#else
#define LOAD_BY(block) 0.0f
#endif

#ifdef DIRECT
#define PIXELS __global
#else
#define PIXELS __private
#endif

#ifdef RESIDUAL
#define LOAD_RESIDUAL(at) TIM_VLOAD16(at, residual + residual_offset, float)
#else
#define LOAD_RESIDUAL(at) 0.0f
#endif

#define PIXEL_COUNT (ROWS * TW)
// So many tiles before they are used, lines of the output and of a dense input
// are fetched.
#define TILES_AHEAD 2

// Finishes and stores the pixels of a block, whose first is number `first` of
// the output, tail lanes as 0.  With TIM_VSTORE16, Intel's compiler spills sums
// in the loops above, which take 10 % longer then.
#define STORE_BLOCK(sum, block, first)                                     \
  {                                                                        \
    const float16 more = (float16)(LOAD_BIAS(block)) + LOAD_ADD(block);    \
    const float16 number = LOAD_BY(block);                                 \
    const int16 mask = channel_mask((block)*16, sizes.out_channels);       \
    _Pragma("unroll") for (int i = 0; i < PIXEL_COUNT; ++i) {              \
      if (x0 + i % TW < first_x || y0 + i / TW < first_y) continue;        \
      const int at = (first) + i / TW * sizes.out_w + i % TW;              \
      const float16 result =                                               \
          FINISH_BY(sum[i] + more + LOAD_RESIDUAL(at), number, low, high); \
      vstore16(select((float16)0.0f, result, mask), at,                    \
               output + output_offset);                                    \
    }                                                                      \
    ACTIVATE_BLOCK(mask, first)                                            \
  }
#ifdef ACTIVATE
#define ACTIVATE_BLOCK(mask, first)                                     \
  for (int i = 0; i < PIXEL_COUNT; ++i) {                               \
    if (x0 + i % TW < first_x || y0 + i / TW < first_y) continue;       \
    const int at = (first) + i / TW * sizes.out_w + i % TW;             \
    activate_stored(output + output_offset + at * 16, mask, low, high); \
  }
#else
#define ACTIVATE_BLOCK(mask, first)
#endif

__kernel void conv2d_nchw16c(__global const float* input, int input_offset,
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
#ifdef BY_CHANNEL
                             __global const float* by, int by_offset,
#endif
                             __global float* output, int output_offset,
                             float low, float high, conv_sizes sizes,
                             int in_blocks, int tiles, int run, int chunk) {
  const int row_tiles = (sizes.out_w + TW - 1) / TW;
  const int image_tiles = (sizes.out_h + ROWS - 1) / ROWS * row_tiles;
  const int begin = get_global_id(0) * run;
  const int end = min(begin + run, image_tiles);
  const int tile = get_global_id(2) % tiles;
  const int n = get_global_id(2) / tiles;
  if (begin >= end || n >= sizes.batch) return;
  const int out_blocks = (sizes.out_channels + 15) / 16;
  const int out_block = tile * BLOCKS;
  const int plane = sizes.out_h * sizes.out_w;
  const int in_step = sizes.in_h * sizes.in_w * IC_BLOCK;
  const int row_floats = sizes.kernel_w * IC_BLOCK * BLOCKS * 16;
  const int w_step = sizes.kernel_h * row_floats;
  const int sharers = chunk < in_blocks ? run : image_tiles;
  // Floats of a row of weights that a tile fetches ahead.
  const int share = (row_floats / 16 + sharers - 1) / sharers * 16;
  const int groups = sizes.out_channels / sizes.group_outputs;
  const int group = out_block * 16 / sizes.group_outputs;
  input = input + input_offset + (n * groups + group) * in_blocks * in_step;
  weights = weights + weights_offset + tile * in_blocks * w_step;

  float16 kept[KEPT][BLOCKS][PIXEL_COUNT];
  for (int first_block = 0; first_block < in_blocks; first_block += chunk) {
    const int end_block = min(first_block + chunk, in_blocks);
    for (int t = begin; t < end; ++t) {
      const int first_x = t % row_tiles * TW;
      const int first_y = t / row_tiles * ROWS;
      // The last tile of a row or column moves back into it and stores its own
      // pixels only.
      const int x0 = min(first_x, sizes.out_w - TW);
      const int y0 = min(first_y, sizes.out_h - ROWS);
      const int left = x0 * STRIDE - sizes.pad_w;
      const int top = y0 * sizes.stride_h - sizes.pad_h;
      const int first =
          (n * out_blocks + out_block) * plane + y0 * sizes.out_w + x0;
      // Otherwise the stores of a tile wait for lines that another core had.
      __global const float* later =
          output + output_offset + (first + TILES_AHEAD * PIXEL_COUNT) * 16;
      for (int b = 0; b < BLOCKS && end_block == in_blocks; ++b) {
#pragma unroll
        for (int i = 0; i < PIXEL_COUNT; ++i) {
          TIM_FETCH_AHEAD_TO_WRITE(later + (b * plane + i) * 16);
        }
      }
      const int ahead = chunk * w_step + t % sharers * share;
      const int ahead_end = min(ahead + share, chunk * w_step + row_floats);

      float16 sum[BLOCKS][PIXEL_COUNT];
#pragma unroll
      for (int b = 0; b < BLOCKS; ++b) {
#pragma unroll
        for (int i = 0; i < PIXEL_COUNT; ++i) {
          sum[b][i] = first_block > 0 ? kept[t - begin][b][i] : (float16)(0.0f);
        }
      }
      // Not a function of its own: that is slower on Intel's runtime.
      for (int block = first_block; block < end_block; ++block) {
#ifdef REST
        const int depth = block + 1 < in_blocks ? IC_BLOCK : REST;
#else
        const int depth = IC_BLOCK;
#endif
        for (int kh = 0; kh < sizes.kernel_h; ++kh) {
          const int in_y = top + kh * sizes.dilation_h;
          const int last_y = in_y + (ROWS - 1) * sizes.stride_h;
          if (last_y < 0 || in_y >= sizes.in_h) continue;
          __global const float* weight =
              weights + block * w_step + kh * row_floats;
          for (int i = ahead; i < ahead_end; i += 16) {
            TIM_FETCH_AHEAD(weight + i);
          }
          __global const float* row =
              input + block * in_step + (in_y * sizes.in_w + left) * IC_BLOCK;
#ifdef DIRECT
          __global const float* pixels = row;
          const int row_step = sizes.stride_h * sizes.in_w * IC_BLOCK;
#else
          float pixels[ROWS * SPAN * IC_BLOCK];
          const int row_step = SPAN * IC_BLOCK;
#if IC_BLOCK == 1
          for (int i = 0; i < TW * STRIDE; i += 16) {
            TIM_FETCH_AHEAD(row + TILES_AHEAD * TW * STRIDE + i);
          }
#endif
          for (int r = 0; r < ROWS; ++r) {
            const int y = in_y + r * sizes.stride_h;
            const int y_inside = y >= 0 && y < sizes.in_h;
            for (int i = 0; i < SPAN; ++i) {
              const int inside =
                  y_inside && left + i >= 0 && left + i < sizes.in_w;
              const int at = r * sizes.stride_h * sizes.in_w + i;
#if IC_BLOCK == 16
              float16 value = 0.0f;
              if (inside) value = TIM_VLOAD16(at, row, float);
              TIM_VSTORE16_PRIVATE(value, i, pixels + r * row_step, float);
#else
              pixels[r * SPAN + i] = inside ? row[at] : 0.0f;
#endif
            }
          }
#endif
          // A moving pointer per row: the pixels of a tile are at constant
          // distances.
          for (int kw = 0; kw < sizes.kernel_w; ++kw) {
            PIXELS const float* pixel =
                pixels + kw * sizes.dilation_w * IC_BLOCK;
            PIXELS const float* pixel_below = pixel + (ROWS - 1) * row_step;
            for (int c = 0; c < depth;
                 ++c, weight += BLOCKS * 16, ++pixel, ++pixel_below) {
              float16 w[BLOCKS];
#pragma unroll
              for (int b = 0; b < BLOCKS; ++b) {
                w[b] = TIM_VLOAD16(b, weight, float);
              }
#pragma unroll
              for (int i = 0; i < PIXEL_COUNT; ++i) {
                PIXELS const float* first = i < TW ? pixel : pixel_below;
                const float16 x = (float16)(first[i % TW * STRIDE * IC_BLOCK]);
#pragma unroll
                for (int b = 0; b < BLOCKS; ++b) {
                  sum[b][i] = multiply_add(x, w[b], sum[b][i]);
                }
              }
            }
            weight += (IC_BLOCK - depth) * BLOCKS * 16;
          }
        }
      }
      if (end_block < in_blocks) {
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
#pragma unroll
          for (int i = 0; i < PIXEL_COUNT; ++i) {
            kept[t - begin][b][i] = sum[b][i];
          }
        }
        continue;
      }
#pragma unroll
      for (int b = 0; b < BLOCKS; ++b) {
        if (out_block + b >= out_blocks) break;
        STORE_BLOCK(sum[b], out_block + b, first + b * plane)
      }
    }
  }
}
