// Direct float32 convolution in blocks of 16 channels, one group or several of
// whole blocks; formula of conv_sums.cl, summed by multiply_add in the order
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
// -DKERNEL=3    the kernel is KERNEL x KERNEL, not dilated; 1: not padded, too
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
#include "ops/convolution/channel_sums.clh"
#include "ops/convolution/nchw16c.clh"
#include "ops/convolution/pixel_tiles.clh"
#include "ops/launch/epilogue_parameters.clh"

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

#ifdef REST
#define DEPTH_OF(block) ((block) + 1 < in_blocks ? IC_BLOCK : REST)
#else
#define DEPTH_OF(block) IC_BLOCK
#endif

// So many tiles before they are used, lines of the output and of a dense input
// are fetched.
#define TILES_AHEAD 2

// Finishes and stores the pixels of a block, whose first is number `first` of
// the output, tail lanes as 0.  With TIM_VSTORE16, Intel's compiler spills sums
// in the loops above, which take 10 % longer then.
#define STORE_BLOCK(sum, block, first)                                     \
  {                                                                        \
    const float16 more = LOAD_MORE((block)*16);                            \
    const float16 number = LOAD_BY(block);                                 \
    const int16 mask = channel_mask((block)*16, sizes.out_channels);       \
    _Pragma("unroll") for (int i = 0; i < PIXEL_COUNT; ++i) {              \
      if (is_stored_before(place, i)) continue;                            \
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
    if (is_stored_before(place, i)) continue;                           \
    const int at = (first) + i / TW * sizes.out_w + i % TW;             \
    activate_stored(output + output_offset + at * 16, mask, low, high); \
  }
#else
#define ACTIVATE_BLOCK(mask, first)
#endif

static inline void fetch_weights(__global const float* weight, int begin,
                                 int end) {
  for (int i = begin; i < end; i += 16) TIM_FETCH_AHEAD(weight + i);
}

// Otherwise the stores of a tile wait for lines that another core had.
static inline void fetch_outputs(__global const float* tile, int plane) {
  __global const float* later = tile + TILES_AHEAD * PIXEL_COUNT * 16;
  for (int b = 0; b < BLOCKS; ++b) {
#pragma unroll
    for (int i = 0; i < PIXEL_COUNT; ++i) {
      TIM_FETCH_AHEAD_TO_WRITE(later + (b * plane + i) * 16);
    }
  }
}

#ifdef DIRECT
#define PIXELS_OF_ROWS(name, row, in_y) __global const float* name = row;
#define ROW_STEP (sizes.stride_h * sizes.in_w * IC_BLOCK)
#else
#define PIXELS_OF_ROWS(name, row, in_y) \
  float name[ROWS * SPAN * IC_BLOCK];   \
  copy_rows(row, place.left, in_y, sizes, name);
#define ROW_STEP (SPAN * IC_BLOCK)

// Copies the pixels from `row` on, which are those from (left, in_y) on, inside
// of the input or not, in the rows of a tile.
static inline void copy_rows(__global const float* row, int left, int in_y,
                             conv_sizes sizes, float* pixels) {
#if IC_BLOCK == 1
  for (int i = 0; i < TW * STRIDE; i += 16) {
    TIM_FETCH_AHEAD(row + TILES_AHEAD * TW * STRIDE + i);
  }
#endif
  for (int r = 0; r < ROWS; ++r) {
    const int y = in_y + r * sizes.stride_h;
    const int inside = y >= 0 && y < sizes.in_h;
#if IC_BLOCK == 16
    copy_pixels(row + r * sizes.stride_h * sizes.in_w * 16, left, sizes.in_w,
                inside, SPAN, pixels + r * ROW_STEP);
#else
    for (int i = 0; i < SPAN; ++i) {
      const int there = inside && left + i >= 0 && left + i < sizes.in_w;
      pixels[r * SPAN + i] =
          there ? row[r * sizes.stride_h * sizes.in_w + i] : 0.0f;
    }
#endif
  }
}
#endif

// An input channel of pixel i.
#define PIXEL(i) ((i) < TW ? pixel : pixel_below)[(i) % TW * STRIDE * IC_BLOCK]

// Adds input channels of a row of the kernel.  A moving pointer per row: the
// pixels of a tile are at constant distances.
#define ADD_KERNEL_ROW(sum, pixels, weight, count)                           \
  {                                                                          \
    const int depth = count;                                                 \
    for (int kw = 0; kw < sizes.kernel_w; ++kw) {                            \
      PIXELS const float* pixel = pixels + kw * sizes.dilation_w * IC_BLOCK; \
      PIXELS const float* pixel_below = pixel + (ROWS - 1) * ROW_STEP;       \
      for (int c = 0; c < depth;                                             \
           ++c, weight += BLOCKS * 16, ++pixel, ++pixel_below) {             \
        ADD_CHANNEL(sum, PIXEL_COUNT, weight, PIXEL)                         \
      }                                                                      \
      weight += (IC_BLOCK - depth) * BLOCKS * 16;                            \
    }                                                                        \
  }

__kernel void conv2d_nchw16c(__global const float* input, int input_offset,
                             __global const float* weights, int weights_offset,
                             TIM_EPILOGUE_PARAMETERS, conv_sizes sizes,
                             int in_blocks, int tiles, int run, int chunk) {
  sizes = with_known_kernel(sizes);
  const tile_run own = run_of(get_global_id(0), run, sizes);
  const int tile = get_global_id(2) % tiles;
  const int n = get_global_id(2) / tiles;
  if (own.begin >= own.end || n >= sizes.batch) return;
  const int out_blocks = (sizes.out_channels + 15) / 16;
  const int out_block = tile * BLOCKS;
  const int plane = sizes.out_h * sizes.out_w;
  const int in_step = sizes.in_h * sizes.in_w * IC_BLOCK;
  const int row_floats = sizes.kernel_w * IC_BLOCK * BLOCKS * 16;
  const int w_step = sizes.kernel_h * row_floats;
  const int sharers = chunk < in_blocks ? run : own.image_tiles;
  // Floats of a row of weights that a tile fetches ahead.
  const int share = (row_floats / 16 + sharers - 1) / sharers * 16;
  const int group = n * (sizes.out_channels / sizes.group_outputs) +
                    out_block * 16 / sizes.group_outputs;
  input = input + input_offset + group * in_blocks * in_step;
  weights = weights + weights_offset + tile * in_blocks * w_step;

  float16 kept[KEPT][BLOCKS][PIXEL_COUNT];
  for (int first_block = 0; first_block < in_blocks; first_block += chunk) {
    const int end_block = min(first_block + chunk, in_blocks);
    for (int t = own.begin; t < own.end; ++t) {
      const tile_place place = place_of(t, own.row_tiles, sizes);
      const int first = (n * out_blocks + out_block) * plane +
                        place.y * sizes.out_w + place.x;
      if (end_block == in_blocks) {
        fetch_outputs(output + output_offset + first * 16, plane);
      }
      const int ahead = chunk * w_step + t % sharers * share;
      const int ahead_end = min(ahead + share, chunk * w_step + row_floats);
      float16 sum[BLOCKS][PIXEL_COUNT];
      EACH_SUM(b, i, PIXEL_COUNT)
      sum[b][i] = first_block > 0 ? kept[t - own.begin][b][i] : (float16)(0.0f);
      for (int block = first_block; block < end_block; ++block) {
        for (int kh = 0; kh < sizes.kernel_h; ++kh) {
          const int in_y = place.top + kh * sizes.dilation_h;
          const int last_y = in_y + (ROWS - 1) * sizes.stride_h;
          if (last_y < 0 || in_y >= sizes.in_h) continue;
          __global const float* weight =
              weights + block * w_step + kh * row_floats;
          fetch_weights(weight, ahead, ahead_end);
          __global const float* row =
              input + block * in_step +
              (in_y * sizes.in_w + place.left) * IC_BLOCK;
          PIXELS_OF_ROWS(pixels, row, in_y)
          ADD_KERNEL_ROW(sum, pixels, weight, DEPTH_OF(block))
        }
      }
      if (end_block < in_blocks) {
        EACH_SUM(b, i, PIXEL_COUNT) kept[t - own.begin][b][i] = sum[b][i];
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
