// A 1x1 convolution and a depthwise one of its result as one kernel, float32 in
// blocks of 16 channels: what lies between them stays in the cache of a core.
// Formulas and order of the sums as in conv2d_nchw16c.cl and
// conv2d_depthwise_nchw16c.cl.
// Input and output blocked [16, W, H, ceil(C / 16), N]; weights packed [BLOCKS
// * 16 oc, 16 ic, blocks of ic, tiles of oc], taps [16, Kw, Kh, ceil(C / 16)],
// zero where there is no channel.
// `sizes` are those of the depthwise one.
// One work-item = `band` rows of the output of BLOCKS blocks of channels;
// dimension 0 = band, dimension 2 = tile of channels + tiles * batch.  It makes
// rows of the 1x1 convolution, up to `step_rows` at once, whenever the next row
// of the output needs them, and keeps the last `kept_rows` of them.
//
// -DINNER_TW=14 pixels of a tile of the 1x1 convolution; in_w >= INNER_TW
// -DBLOCKS=2    1 to 3 blocks of channels
// -DREST=8      channels that the last input block has, where it is not full
// -DROOM=1024   pixels of 16 channels that a work-item keeps, at least
//               BLOCKS * kept_rows * in_w
// -DINNER_BIAS  a float per channel that the 1x1 convolution adds
// -DBIAS        the same of the depthwise convolution; more in
//               depthwise_row.clh

#include "ops/convolution/channel_sums.clh"
#include "ops/convolution/conv_sizes.clh"
#include "ops/convolution/depthwise_row.clh"
#include "ops/convolution/nchw16c.clh"

#ifndef BLOCKS
#define BLOCKS 2
#endif
#ifndef INNER_TW
#define INNER_TW 14
#endif
#ifndef ROOM
#define ROOM 1024
#endif

#ifdef INNER_BIAS
#define LOAD_INNER_BIAS(block) \
  load_channels(inner_bias + inner_bias_offset, (block)*16, sizes.out_channels)
#else
#define LOAD_INNER_BIAS(block) 0.0f
#endif
#ifdef REST
#define DEPTH_OF(block) ((block) + 1 < in_blocks ? 16 : REST)
#else
#define DEPTH_OF(block) 16
#endif

#define PIXEL(i) pixel[(i)*16]
#define READ(i) rows[at + (i)]

// Makes a row of the output of a block of channels, whose first tap reads row
// `top` of `rows`, which keep the last kept_rows.
static inline void make_row(const float16* rows, int kept_rows, int top,
                            __global const float* taps, float16 more,
                            int16 mask, float low, float high, conv_sizes sizes,
                            __global float* out_row) {
  for (int first_x = 0; first_x < sizes.out_w; first_x += TW) {
    const int x0 = min(first_x, sizes.out_w - TW);
    const int left = x0 * STRIDE - sizes.pad_w;
    fetch_tile(out_row + (sizes.out_w + x0) * 16);
    float16 sum[TW];
#pragma unroll
    for (int i = 0; i < TW; ++i) sum[i] = 0.0f;
    for (int kh = 0; kh < sizes.kernel_h; ++kh) {
      const int in_y = top + kh * sizes.dilation_h;
      if (in_y < 0 || in_y >= sizes.in_h) continue;
      const int at = in_y % kept_rows * sizes.in_w + left;
      float16 pixels[SPAN];
      LOAD_PIXELS(pixels, left, sizes.in_w, READ)
      add_row(pixels, taps + kh * KERNEL_W * 16, sum);
    }
#pragma unroll
    for (int i = 0; i < TW; ++i) {
      const float16 result = limit(sum[i] + more, low, high);
      TIM_VSTORE16(select((float16)0.0f, result, mask), x0 + i, out_row, float);
    }
  }
}

__kernel void conv2d_1x1_depthwise_nchw16c(
    __global const float* input, int input_offset,
    __global const float* weights, int weights_offset,
    __global const float* taps, int taps_offset,
#ifdef INNER_BIAS
    __global const float* inner_bias, int inner_bias_offset,
#endif
#ifdef BIAS
    __global const float* bias, int bias_offset,
#endif
    __global float* output, int output_offset, float inner_low,
    float inner_high, float low, float high, conv_sizes sizes, int in_blocks,
    int tiles, int band, int kept_rows, int step_rows) {
  const int first_y = get_global_id(0) * band;
  const int end_y = min(first_y + band, sizes.out_h);
  const int tile = get_global_id(2) % tiles;
  const int n = get_global_id(2) / tiles;
  if (first_y >= end_y || n >= sizes.batch) return;
  const int blocks = (sizes.out_channels + 15) / 16;
  const int first_block = tile * BLOCKS;
  const int in_plane = sizes.in_h * sizes.in_w;
  const int span_h = (sizes.kernel_h - 1) * sizes.dilation_h + 1;
  const int end_in =
      min((end_y - 1) * sizes.stride_h - sizes.pad_h + span_h, sizes.in_h);
  __global const float* image =
      input + input_offset + n * in_blocks * in_plane * 16;
  const int tile_floats = in_blocks * BLOCKS * 256;
  weights = weights + weights_offset + tile * tile_floats;
  float16 rows[ROOM];  // [BLOCKS, kept_rows, in_w]
  int made = max(first_y * sizes.stride_h - sizes.pad_h, 0);
  const int inner_tiles = max((end_in - made) * sizes.in_w / INNER_TW, 1);
  const int share = (tile_floats / 16 + inner_tiles - 1) / inner_tiles * 16;
  int ahead = tile_floats;
  for (int y = first_y; y < end_y; ++y) {
    const int top = y * sizes.stride_h - sizes.pad_h;
    const int needed = min(top + span_h, end_in);
    while (made < needed) {
      const int slot = made % kept_rows;
      const int count = min(min(step_rows, kept_rows - slot), end_in - made);
      const int pixels = count * sizes.in_w;
      for (int first = 0; first < pixels; first += INNER_TW) {
        const int x0 = min(first, pixels - INNER_TW);  // the last moves back
        __global const float* row = image + (made * sizes.in_w + x0) * 16;
        __global const float* weight = weights;
        const int ahead_end = min(ahead + share, 2 * tile_floats);
        for (; ahead < ahead_end; ahead += 16) TIM_FETCH_AHEAD(weights + ahead);
        float16 sum[BLOCKS][INNER_TW];
        EACH_SUM(b, i, INNER_TW) sum[b][i] = 0.0f;
        for (int block = 0; block < in_blocks; ++block, row += in_plane * 16) {
          const int depth = DEPTH_OF(block);
          __global const float* pixel = row;
          for (int c = 0; c < depth; ++c, weight += BLOCKS * 16, ++pixel) {
            ADD_CHANNEL(sum, INNER_TW, weight, PIXEL)
          }
        }
        // Lanes beyond the channels hold what their taps of 0 remove.
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          const float16 more = LOAD_INNER_BIAS(first_block + b);
          const int at = (b * kept_rows + slot) * sizes.in_w + x0;
#pragma unroll
          for (int i = 0; i < INNER_TW; ++i) {
            rows[at + i] = limit(sum[b][i] + more, inner_low, inner_high);
          }
        }
      }
      made += count;
    }
    for (int b = 0; b < BLOCKS; ++b) {
      const int block = first_block + b;
      if (block >= blocks) break;
      const int out_row = (n * blocks + block) * sizes.out_h + y;
      make_row(rows + b * kept_rows * sizes.in_w, kept_rows, top,
               taps + taps_offset + block * sizes.kernel_h * KERNEL_W * 16,
               LOAD_BIAS(block * 16),
               channel_mask(block * 16, sizes.out_channels), low, high, sizes,
               output + output_offset + out_row * sizes.out_w * 16);
    }
  }
}
