// Direct convolution of 8-bit codes for CPUs; formula as in conv_sums.cl, sums
// as in ops/elements/byte_sum.h.
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
//               input; with PART 16 for 4
// -DPART=14     by tiles of AMX, each of PART pixels of a row: all of them, or
//               TW / 2 with ROWS 1; 1 or 2 blocks; sums of pixels by DOT; with
//               DEPTH 1 the kernel is at most 16 wide, and not dilated there
// -DREST=2      groups that the last input block has, where it has less
// -DSPAN=16     pixels copied from each input row, at least
//               (TW - 1) * STRIDE + (kernel_w - 1) * dilation_w + 1; a multiple
//               of 16 / DEPTH
// -DKERNEL=3    the kernel is KERNEL x KERNEL, not dilated; 1: not padded, too
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
#include "ops/convolution/pixel_tiles.clh"

#ifdef TOTALS
#define RESULT int
#else
#define RESULT uchar
#endif
// So many tiles before they are stored, lines of the output are fetched.
#define TILES_AHEAD 2

#include "ops/convolution_i8/pixel_rows.clh"
#ifdef PART
#include "ops/convolution_i8/matrix_tile.clh"
#else
#include "ops/convolution_i8/dot_tile.clh"
#endif
#ifdef RESIDUAL
#include "ops/convolution_i8/residual_sum.clh"
#endif

#ifdef WEIGHT_ZERO
// The sum of all input codes that pixel `i` of the tile reads, from those of
// the columns.
static inline int window_sum(const int* columns, int i, conv_sizes sizes) {
  int sum = 0;
  for (int kw = 0; kw < sizes.kernel_w; ++kw) {
    const int x = i / TW * SPAN + i % TW * STRIDE + kw * sizes.dilation_w;
    for (int c = 0; c < DEPTH; ++c) sum += columns[x * DEPTH + c];
  }
  return sum;
}

// Less the weights' zero points times the sums of pixels.
static inline void subtract_weight_zeros(const int* columns,
                                         __global const int* channels,
                                         int out_block, int out_blocks,
                                         conv_sizes sizes,
                                         int16 (*sum)[PIXEL_COUNT]) {
  int window[PIXEL_COUNT];
  for (int i = 0; i < PIXEL_COUNT; ++i) {
    window[i] = window_sum(columns, i, sizes);
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

// Whether some channel has a zero point: often few do, where a weight is far
// from it.
static inline int has_weight_zeros(__global const int* channels, int out_block,
                                   int out_blocks) {
#ifdef WEIGHT_ZERO
  int16 zeros = 0;
  for (int b = 0; b < min(BLOCKS, out_blocks - out_block); ++b) {
    zeros |= tim_load_weight_zero(channels, out_block + b);
  }
  return any(zeros != 0);
#else
  return 0;
#endif
}

// Otherwise the stores of a tile wait for lines that another core had.
static inline void fetch_outputs(__global RESULT* tile, int plane) {
  for (int b = 0; b < BLOCKS; ++b) {
    for (int i = 0; i < PIXEL_COUNT; i += 4) {
      TIM_FETCH_AHEAD_TO_WRITE(
          tile + (b * plane + TILES_AHEAD * PIXEL_COUNT + i) * 16);
    }
  }
}

// Inputs and weights that the tiles of a work-item read.
typedef struct {
  int first_input;   // where the first block of channels is
  int first_weight;  // where those of the tile of channels are
  int channels;      // of the input, from the first block on
  int out_block, out_blocks;
  int read_blocks;
  int row_ints, tile_ints;  // of weights
  int has_zeros;
  uchar input_zero;
} tile_source;

static inline tile_source source_of(__global const int* channels, int n,
                                    int tile, int in_blocks, int read_blocks,
                                    uchar input_zero, conv_sizes sizes) {
  tile_source out;
  out.out_block = tile * BLOCKS;
  out.out_blocks = (sizes.out_channels + 15) / 16;
  out.read_blocks = read_blocks;
  out.row_ints = sizes.kernel_w * DEPTH * BLOCKS * 16;
  out.tile_ints = read_blocks * sizes.kernel_h * out.row_ints;
  out.first_weight = tile * out.tile_ints;
  const int group = out.out_block * 16 / sizes.group_outputs;
  const int block =
      min(group * sizes.group_channels / (4 * DEPTH), in_blocks - read_blocks);
#if DEPTH >= 4
  const int plane =
      (n * ((sizes.in_channels + 15) / 16) + block * (DEPTH / 4)) * 16;
#else
  const int plane = n * sizes.in_channels + block * 4;
#endif
  out.first_input = plane * (sizes.in_h * sizes.in_w);
  out.channels = sizes.in_channels - block * 4 * DEPTH;
  out.has_zeros = has_weight_zeros(channels, out.out_block, out.out_blocks);
  out.input_zero = input_zero;
  return out;
}

// Copies the pixels of row kh of the kernel in a tile.
static inline void copy_step(__global const uchar* input, tile_source source,
                             int block, int kh, tile_place place,
                             conv_sizes sizes, int16* span) {
  const int needed =
      (TW - 1) * STRIDE + (sizes.kernel_w - 1) * sizes.dilation_w + 1;
  copy_rows(input, block, source.channels, place.top + kh * sizes.dilation_h,
            place.left, sizes, needed, source.input_zero, span);
}

// Copies those of the step after row kh of the kernel in `block`: in the same
// tile, or the first one of the next tile.
static inline void copy_next_step(__global const uchar* input,
                                  tile_source source, int block, int kh,
                                  tile_place place, tile_place next,
                                  conv_sizes sizes, int16* span) {
  const int next_kh = kh + 1 < sizes.kernel_h ? kh + 1 : 0;
  const int next_block = next_kh > 0                      ? block
                         : block + 1 < source.read_blocks ? block + 1
                                                          : 0;
  const int here = next_kh > 0 || next_block > 0;
  place.top = here ? place.top : next.top;
  place.left = here ? place.left : next.left;
  copy_step(input, source, next_block, next_kh, place, sizes, span);
}

// Makes the sums of a tile.  Pixels are copied one step ahead, to spans[1 -
// turn], the first ones of a tile in the last step of the tile before it: to
// read parts of what has just been stored takes long.  Returns the next turn.
// Weights from `ahead` to `ahead_end` of each row are fetched ahead.
static inline __attribute__((always_inline)) int sum_tile(
    __global const uchar* input, __global const int* weights,
    __global const int* channels, tile_source source, tile_place place,
    tile_place next, conv_sizes sizes, int ahead, int ahead_end, int turn,
    int16 (*spans)[ROWS * SPAN_VECTORS], int16 (*sum)[PIXEL_COUNT]) {
  start_sums(channels, source.out_block, source.out_blocks, sum);
#ifdef WEIGHT_ZERO
  int16 columns[ROWS * SPAN_VECTORS];
  for (int i = 0; i < ROWS * SPAN_VECTORS; ++i) columns[i] = 0;
#endif
  __global const int* weight = weights;
  for (int block = 0; block < source.read_blocks; ++block) {
#ifdef REST
    const int depth = block + 1 < source.read_blocks ? DEPTH : REST;
#else
    const int depth = DEPTH;
#endif
    for (int kh = 0; kh < sizes.kernel_h; ++kh, weight += source.row_ints) {
      for (int i = ahead; i < ahead_end; i += 16) TIM_FETCH_AHEAD(weight + i);
      const int16* span = spans[turn];
      turn = 1 - turn;
      copy_next_step(input, source, block, kh, place, next, sizes, spans[turn]);
#ifdef WEIGHT_ZERO
      for (int i = 0; i < ROWS * SPAN_VECTORS && source.has_zeros; ++i) {
        TIM_DOT(DOT, columns[i], span[i], (int16)(0x01010101));
      }
#endif
      add_kernel_row(span, weight, depth, sizes, sum);
    }
  }
  finish_sums(sum);
#ifdef WEIGHT_ZERO
  if (source.has_zeros) {
    subtract_weight_zeros((const int*)columns, channels, source.out_block,
                          source.out_blocks, sizes, sum);
  }
#endif
  return turn;
}

// PLACE_OF(b, x, y): where block b of the tile's channels of a pixel is, in
// vectors from FIRST_OF() on; with PHASES -1 for a pixel that does not exist.
#ifdef PHASES
typedef struct {
  int w, h;
  int out_w, out_h, out_channels;
} phase_sizes;

static inline int phase_place(int block, int x, int y, tile_place place,
                              phase_sizes phases) {
  const int blocks = (phases.out_channels + 15) / 16;
  const int phase = block / blocks;
  const int to_x = (place.x + x) * phases.w + phase % phases.w;
  const int to_y = (place.y + y) * phases.h + phase / phases.w;
  if (to_x >= phases.out_w || to_y >= phases.out_h) return -1;
  return (block % blocks * phases.out_h + to_y) * phases.out_w + to_x;
}

#define PLACE_OF(b, x, y) \
  phase_place(source.out_block + (b), x, y, place, phases)
#define IS_STORED(at) ((at) >= 0)
#define PLANE (phases.out_h * phases.out_w)
#define FIRST_OF(n, place) ((n) * ((phases.out_channels + 15) / 16) * plane)
#define FETCH_OUTPUTS(to, plane)
#else
#define PLACE_OF(b, x, y) ((b)*plane + (y)*sizes.out_w + (x))
#define IS_STORED(at) 1
#define PLANE (sizes.out_h * sizes.out_w)
#define FIRST_OF(n, place)                              \
  (((n)*source.out_blocks + source.out_block) * plane + \
   place.y * sizes.out_w + place.x)
#define FETCH_OUTPUTS(to, plane) fetch_outputs(to, plane)
#endif

// RULE_OF(block) makes results of the sums of a block of channels, which
// STORE() does; lanes of TOTALS without a channel are 0.
#ifdef TOTALS
#define RULE int16
#define RULE_OF(block)                                             \
  ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) < \
   (int16)(sizes.out_channels - (block)*16))
#elif defined(PHASES)
#define RULE tim_byte_channels
#define RULE_OF(block) \
  rule_of_phase(channels, block, phases, output_zero, low, high)

static inline tim_byte_channels rule_of_phase(__global const int* channels,
                                              int block, phase_sizes phases,
                                              int zero, int low, int high) {
  const int blocks = (phases.out_channels + 15) / 16;
  return tim_load_byte_channels(channels + block / blocks * blocks * 48,
                                block % blocks, phases.out_channels, zero, low,
                                high);
}
#else
#define RULE tim_byte_channels
#define RULE_OF(block)                                                     \
  tim_load_byte_channels(channels, block, sizes.out_channels, output_zero, \
                         low, high)
#endif
#ifdef REAL_SUMS
#define UNITS(sum, rule) (convert_float16(sum) * (rule).factor)
#else
#define UNITS(sum, rule) tim_whole_byte_units(sum, rule)
#endif
#ifdef RESIDUAL
#define STORE(sum, rule, at)                                           \
  store_residual_sum(UNITS(sum, rule),                                 \
                     residual + residual_offset + (first + (at)) * 16, \
                     to + (at)*16, numbers)
#elif defined(TOTALS)
#define STORE(sum, rule, at) TIM_VSTORE16((sum) & (rule), at, to, int)
#else
#define STORE(sum, rule, at) \
  TIM_VSTORE16(tim_whole_byte_result(sum, rule), at, to, uchar)
#endif

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
  sizes = with_known_kernel(sizes);
  const tile_run own = run_of(get_global_id(0), run, sizes);
  const int tile = get_global_id(2) % tiles;
  const int n = get_global_id(2) / tiles;
  if (own.begin >= own.end || n >= sizes.batch) return;
  channels += channels_offset;
  const tile_source source =
      source_of(channels, n, tile, in_blocks, read_blocks, input_zero, sizes);
  input += input_offset + source.first_input;
  weights += weights_offset + source.first_weight;
  const int plane = PLANE;
  // Lines that a tile fetches ahead of each row of the next tile's weights.
  const int share =
      (source.row_ints / 16 + own.image_tiles - 1) / own.image_tiles * 16;
  int16 spans[2][ROWS * SPAN_VECTORS];
  int turn = 0;
  BEGIN_TILES();
  tile_place place = place_of(own.begin, own.row_tiles, sizes);
  copy_step(input, source, 0, 0, place, sizes, spans[0]);
  for (int t = own.begin; t < own.end; ++t) {
    const tile_place next = place_of(t + 1, own.row_tiles, sizes);
    const int first = FIRST_OF(n, place);
    __global RESULT* const to = output + output_offset + first * 16;
    FETCH_OUTPUTS(to, plane);
    const int ahead = source.tile_ints + t * share;
    const int ahead_end =
        min(ahead + share, source.tile_ints + source.row_ints);
    int16 sum[BLOCKS][PIXEL_COUNT];
    turn = sum_tile(input, weights, channels, source, place, next, sizes, ahead,
                    ahead_end, turn, spans, sum);
    const int whole = place.x == place.first_x && place.y == place.first_y;
#pragma unroll
    for (int b = 0; b < BLOCKS; ++b) {
      if (source.out_block + b >= source.out_blocks) continue;
      const RULE rule = RULE_OF(source.out_block + b);
      FOR_PIXELS(x, y, place, whole) {
        const int at = PLACE_OF(b, x, y);
        if (IS_STORED(at)) STORE(sum[b][y * TW + x], rule, at);
      }
    }
    place = next;
  }
  END_TILES();
}
