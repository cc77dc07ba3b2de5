// Direct convolution of 8-bit codes for CPUs; formula as in conv2d.cl, sums as
// in ops/elements/byte_sum.h.
// Output blocked [16, W, H, ceil(Oc / 16), N]; input the same, or dense where
// DEPTH is 1.  Weights packed [4 ic, BLOCKS * 16 oc, DEPTH, Kw, Kh, blocks of
// 4 * DEPTH ic, tiles of oc].
// A tile has ROWS rows of TW neighbouring pixels and BLOCKS blocks of output
// channels, which read `read_blocks` blocks of input channels.  One work-item =
// `run` tiles of an image, which count along x, then along y; dimension 0 = run
// of tiles, dimension 2 = tile of channels + tiles * batch.
// The input pixels of a tile are copied, with the zero point where there are
// none, so that padding adds nothing to a sum.
//
// -DIN0=U8 -DOUT=U8  types: U8 or I8
// -DDOT=PLAIN   form of kernels/bytes/byte_dot.clh
// -DTW=14       pixels of a row; out_w >= TW
// -DROWS=1      1 or 2 rows; out_h >= ROWS
// -DBLOCKS=2    1 to 3 blocks of output channels
// -DSTRIDE=1    stride along W
// -DDEPTH=4     groups of 4 channels in an input block: 4, or 1 for a dense
//               input
// -DREST=2      groups that the last input block has, where it has less
// -DSPAN=16     pixels copied from each input row, at least
//               (TW - 1) * STRIDE + (kernel_w - 1) * dilation_w + 1; a multiple
//               of 16 / DEPTH
// -DRESIDUAL    y = clamp(code of real(sum) + real(residual), y_low, y_high)
// -DREAL_SUMS   what is added to is not rounded and has no limits
// -DCORRECTIONS=0  by kernels/bytes/codes.clh, which gives the same here
// -DLINEAR      sum_scale * code of the sum + (residual_scale * code of the
//               residual + start), which is in codes of y, gives the same
// -DPHASES      output channels are those of phases.w * phases.h phases, each
//               in blocks of its own: pixel (x, y) of phase i + phases.w * j is
//               pixel (x * phases.w + i, y * phases.h + j), if there is one, of
//               an output [16, out_w, out_h, ceil(out_channels / 16), N] with
//               the sizes in `phases`; a residual lies likewise
// -DTOTALS      output is the sums themselves, ints; no OUT, no limits, and
//               neither RESIDUAL nor PHASES
// -DWEIGHT_ZERO the weights' zero points times the sums of pixels count
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
#ifndef ROWS
#define ROWS 1
#endif
#ifndef BLOCKS
#define BLOCKS 2
#endif
#ifndef STRIDE
#define STRIDE 1
#endif
#ifndef DEPTH
#define DEPTH 4
#endif
#ifndef SPAN
#define SPAN 16
#endif

#include "kernels/bytes/byte_dot.clh"
#include "kernels/bytes/byte_result.clh"
#include "kernels/fetch_ahead.clh"

#ifdef TOTALS
#define RESULT int
#else
#define RESULT uchar
#endif
#define PIXEL_COUNT (ROWS * TW)
// So many tiles before they are stored, lines of the output are fetched.
#define TILES_AHEAD 2

#include "ops/convolution_i8/pixel_rows.clh"
#ifdef RESIDUAL
#include "ops/convolution_i8/residual_sum.clh"
#endif

#ifdef PHASES
typedef struct {
  int w, h;
  int out_w, out_h, out_channels;
} phase_sizes;
#endif

#ifdef WEIGHT_ZERO
// The sum of all input codes that pixel `i` of the tile reads, from those of
// the columns.
static inline int window_sum(const int* columns, int i, int kernel_w,
                             int dilation_w) {
  int sum = 0;
  for (int kw = 0; kw < kernel_w; ++kw) {
    const int x = i / TW * SPAN + i % TW * STRIDE + kw * dilation_w;
    for (int c = 0; c < DEPTH; ++c) sum += columns[x * DEPTH + c];
  }
  return sum;
}

// Less the weights' zero points times the sums of pixels.
static inline void subtract_weight_zeros(const int* columns,
                                         __global const int* channels,
                                         int out_block, int out_blocks,
                                         int kernel_w, int dilation_w,
                                         int16 (*sum)[PIXEL_COUNT]) {
  int window[PIXEL_COUNT];
  for (int i = 0; i < PIXEL_COUNT; ++i) {
    window[i] = window_sum(columns, i, kernel_w, dilation_w);
  }
#pragma unroll
  for (int b = 0; b < BLOCKS; ++b) {
    const int16 zero =
        tim_load_weight_zero(channels, min(out_block + b, out_blocks - 1));
#pragma unroll
    for (int i = 0; i < PIXEL_COUNT; ++i) {
      sum[b][i] = tim_less_weight_zero(sum[b][i], window[i], zero);
    }
  }
}
#endif

// Otherwise the stores of a tile wait for lines that another core had.
static inline void fetch_outputs(__global RESULT* tile, int plane) {
  for (int b = 0; b < BLOCKS; ++b) {
    for (int i = 0; i < PIXEL_COUNT; i += 4) {
      TIM_FETCH_AHEAD_TO_WRITE(
          tile + (b * plane + TILES_AHEAD * PIXEL_COUNT + i) * 16);
    }
  }
}

// Adds the products of one row of the kernel and `depth` groups of channels.
static inline void add_kernel_row(const int16* span, __global const int* weight,
                                  int depth, int kernel_w, int dilation_w,
                                  int16 (*sum)[PIXEL_COUNT]) {
  // A moving pointer per row: the pixels of a tile are at constant distances.
  for (int kw = 0; kw < kernel_w; ++kw) {
    const int* pixel = (const int*)span + kw * dilation_w * DEPTH;
    const int* pixel_below = pixel + (ROWS - 1) * SPAN * DEPTH;
    for (int c = 0; c < depth;
         ++c, weight += BLOCKS * 16, ++pixel, ++pixel_below) {
      int16 w[BLOCKS];
#pragma unroll
      for (int b = 0; b < BLOCKS; ++b) w[b] = TIM_VLOAD16(b, weight, int);
#pragma unroll
      for (int i = 0; i < PIXEL_COUNT; ++i) {
        const int* row = i < TW ? pixel : pixel_below;
        const int16 x = (int16)(row[i % TW * STRIDE * DEPTH]);
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) TIM_DOT(DOT, sum[b][i], x, w[b]);
      }
    }
    weight += (DEPTH - depth) * BLOCKS * 16;
  }
}

__kernel void conv2d_nchw16c_i8(__global const uchar* input, int input_offset,
                                __global const int* weights, int weights_offset,
                                __global const int* channels,
                                int channels_offset, int input_zero,
                                __global RESULT* output, int output_offset,
#ifndef TOTALS
                                int output_zero, int low, int high,
#endif
#ifdef RESIDUAL
                                __global const uchar* residual,
                                int residual_offset, residual_numbers numbers,
#endif
                                conv_sizes sizes, int in_blocks,
                                int read_blocks, int tiles,
#ifdef PHASES
                                phase_sizes phases,
#endif
                                int run) {
  const int row_tiles = (sizes.out_w + TW - 1) / TW;
  const int image_tiles = (sizes.out_h + ROWS - 1) / ROWS * row_tiles;
  const int begin = get_global_id(0) * run;
  const int end = min(begin + run, image_tiles);
  const int tile = get_global_id(2) % tiles;
  const int n = get_global_id(2) / tiles;
  if (begin >= end || n >= sizes.batch) return;
  const int out_blocks = (sizes.out_channels + 15) / 16;
  const int out_block = tile * BLOCKS;
#ifdef PHASES
  const int plane = phases.out_h * phases.out_w;
  const int blocks_of_phase = (phases.out_channels + 15) / 16;
#else
  const int plane = sizes.out_h * sizes.out_w;
#endif
  const int in_plane = sizes.in_h * sizes.in_w;
  const int first_channel =
      out_block * 16 / sizes.group_outputs * sizes.group_channels / (4 * DEPTH);
  const int first_block = min(first_channel, in_blocks - read_blocks);
  const int row_ints = sizes.kernel_w * DEPTH * BLOCKS * 16;
  const int tile_ints = read_blocks * sizes.kernel_h * row_ints;
  // Of each row of the next tile's weights a tile fetches so many lines ahead.
  const int share = (row_ints / 16 + image_tiles - 1) / image_tiles * 16;
  const int needed =
      (TW - 1) * STRIDE + (sizes.kernel_w - 1) * sizes.dilation_w + 1;
#if DEPTH == 4
  input += input_offset + (n * in_blocks + first_block) * in_plane * 16;
#else
  input += input_offset + (n * sizes.in_channels + first_block * 4) * in_plane;
#endif
  weights += weights_offset + tile * tile_ints;
  channels += channels_offset;
#ifdef WEIGHT_ZERO
  // Often few channels have one, where a weight is far from it.
  int16 zeros = 0;
  for (int b = 0; b < min(BLOCKS, out_blocks - out_block); ++b) {
    zeros |= tim_load_weight_zero(channels, out_block + b);
  }
  const int has_zeros = any(zeros != 0);
#endif

  // Pixels are copied one step ahead, the first ones of a tile in the last step
  // of the tile before it: to read parts of what has just been stored takes
  // long.
  int16 spans[2][ROWS * SPAN_VECTORS];
  int turn = 0;
  int left =
      min(begin % row_tiles * TW, sizes.out_w - TW) * STRIDE - sizes.pad_w;
  int top = min(begin / row_tiles * ROWS, sizes.out_h - ROWS) * sizes.stride_h -
            sizes.pad_h;
  copy_rows(input, 0, top, left, sizes, needed, input_zero, spans[0]);
  for (int t = begin; t < end; ++t) {
    const int first_x = t % row_tiles * TW;
    const int first_y = t / row_tiles * ROWS;
    // The last tile of a row or column moves back into it and stores its own
    // pixels only.
    const int x0 = min(first_x, sizes.out_w - TW);
    const int y0 = min(first_y, sizes.out_h - ROWS);
    const int next_x = min((t + 1) % row_tiles * TW, sizes.out_w - TW);
    const int next_y = min((t + 1) / row_tiles * ROWS, sizes.out_h - ROWS);
    const int next_left = next_x * STRIDE - sizes.pad_w;
    const int next_top = next_y * sizes.stride_h - sizes.pad_h;
#ifdef PHASES
    const int first = n * blocks_of_phase * plane;
#else
    const int first =
        (n * out_blocks + out_block) * plane + y0 * sizes.out_w + x0;
#endif
    __global RESULT* const to = output + output_offset + first * 16;
#ifndef PHASES
    fetch_outputs(to, plane);
#endif
    const int ahead = tile_ints + t * share;
    const int ahead_end = min(ahead + share, tile_ints + row_ints);

    int16 sum[BLOCKS][PIXEL_COUNT];
#pragma unroll
    for (int b = 0; b < BLOCKS; ++b) {
      const int16 offset =
          tim_load_byte_offset(channels, min(out_block + b, out_blocks - 1));
#pragma unroll
      for (int i = 0; i < PIXEL_COUNT; ++i) sum[b][i] = offset;
    }
#ifdef WEIGHT_ZERO
    int16 columns[ROWS * SPAN_VECTORS];
    for (int i = 0; i < ROWS * SPAN_VECTORS; ++i) columns[i] = 0;
#endif
    __global const int* weight = weights;
    for (int block = 0; block < read_blocks; ++block) {
#ifdef REST
      const int depth = block + 1 < read_blocks ? DEPTH : REST;
#else
      const int depth = DEPTH;
#endif
      for (int kh = 0; kh < sizes.kernel_h; ++kh) {
        for (int i = ahead; i < ahead_end; i += 16) {
          TIM_FETCH_AHEAD(weight + i);
        }
        const int16* span = spans[turn];
        turn = 1 - turn;
        const int next_kh = kh + 1 < sizes.kernel_h ? kh + 1 : 0;
        const int next_block = next_kh > 0               ? block
                               : block + 1 < read_blocks ? block + 1
                                                         : 0;
        const int here = next_kh > 0 || next_block > 0;
        copy_rows(input, next_block,
                  (here ? top : next_top) + next_kh * sizes.dilation_h,
                  here ? left : next_left, sizes, needed, input_zero,
                  spans[turn]);
#ifdef WEIGHT_ZERO
        for (int i = 0; i < ROWS * SPAN_VECTORS && has_zeros; ++i) {
          TIM_DOT(DOT, columns[i], span[i], (int16)(0x01010101));
        }
#endif
        add_kernel_row(span, weight, depth, sizes.kernel_w, sizes.dilation_w,
                       sum);
        weight += row_ints;
      }
    }

#ifdef WEIGHT_ZERO
    if (has_zeros) {
      subtract_weight_zeros((const int*)columns, channels, out_block,
                            out_blocks, sizes.kernel_w, sizes.dilation_w, sum);
    }
#endif
    const int whole = x0 == first_x && y0 == first_y;
#pragma unroll
    for (int b = 0; b < BLOCKS; ++b) {
      if (out_block + b >= out_blocks) continue;
#ifdef PHASES
      const int phase = (out_block + b) / blocks_of_phase;
      const int block = (out_block + b) % blocks_of_phase;
      const tim_byte_channels rule =
          tim_load_byte_channels(channels + phase * blocks_of_phase * 48, block,
                                 phases.out_channels, output_zero, low, high);
#elif defined(TOTALS)
      // Lanes without a channel are 0.
      const int16 exists =
          (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) <
          (int16)(sizes.out_channels - (out_block + b) * 16);
#else
      const tim_byte_channels rule = tim_load_byte_channels(
          channels, out_block + b, sizes.out_channels, output_zero, low, high);
#endif
#pragma unroll
      for (int i = 0; i < PIXEL_COUNT; ++i) {
        if (!whole && (x0 + i % TW < first_x || y0 + i / TW < first_y)) {
          continue;
        }
#ifdef PHASES
        const int x = (x0 + i % TW) * phases.w + phase % phases.w;
        const int y = (y0 + i / TW) * phases.h + phase / phases.w;
        if (x >= phases.out_w || y >= phases.out_h) continue;
        const int at = block * plane + y * phases.out_w + x;
#else
        const int at = b * plane + i / TW * sizes.out_w + i % TW;
#endif
#ifdef RESIDUAL
#ifdef REAL_SUMS
        const float16 units = convert_float16(sum[b][i]) * rule.factor;
#else
        const float16 units = tim_whole_byte_units(sum[b][i], rule);
#endif
        store_residual_sum(units,
                           residual + residual_offset + (first + at) * 16,
                           to + at * 16, numbers);
#elif defined(TOTALS)
        TIM_VSTORE16(sum[b][i] & exists, at, to, int);
#else
        TIM_VSTORE16(tim_whole_byte_result(sum[b][i], rule), at, to, uchar);
#endif
      }
    }
    left = next_left;
    top = next_top;
  }
}
