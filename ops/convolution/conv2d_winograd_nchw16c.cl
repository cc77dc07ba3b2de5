// Winograd convolution of float32 in blocks of 16 channels: 3x3, stride 1,
// dilation 1, one group.  A tile of TILE x TILE outputs reads a patch of EDGE x
// EDGE inputs, EDGE = TILE + 2:
//   y = A ((G w Gt) * (Bt x B)) At, * element by element, summed over channels
// with G w Gt made on the host (conv2d_winograd_nchw16c.cc has the constants).
//   conv2d_winograd_input   patches = Bt x B of `tiles` tiles
//   conv2d_winograd_output  the sums by multiply_add in order of ic, then
//                           A .. At, then + bias + add + residual, then
//                           limited to low .. high
// Tensors blocked [16, W, H, ceil(C / 16), N].  Tiles count along x, y, batch,
// from `first_tile` on; TILES of them are a group.  Patches [16 ic, TILES,
// blocks of ic, EDGE * EDGE, groups].  Weights packed [BLOCKS * 16 oc, 16 *
// blocks of ic, EDGE * EDGE, parts of oc], zero where there is no channel.
// conv2d_winograd_input: one work-item = `run` blocks of a group; dimension 0 =
// run of blocks, dimension 1 = group.
// conv2d_winograd_output: one work-item = the outputs of a group in BLOCKS
// blocks of channels; dimension 0 = group, dimension 2 = part of the channels.
//
// -DTILE=4      outputs of a tile along an axis: 4 or 2
// -DTILES=14    tiles of a group
// -DBLOCKS=2    1 or 2 blocks of output channels
// -DBIAS, -DADD a float per output channel that is added
// -DRESIDUAL    a blocked tensor of the output's shape that is added
// -DACTIVATE    kernels/activate.clh

#ifndef TILE
#define TILE 4
#endif
#ifndef TILES
#define TILES 14
#endif
#ifndef BLOCKS
#define BLOCKS 2
#endif

#include "kernels/memory16.clh"
#include "kernels/multiply_add.clh"
#include "ops/convolution/conv_sizes.clh"
#include "ops/convolution/nchw16c.clh"
#include "ops/launch/epilogue_parameters.clh"

#define EDGE (TILE + 2)
#define POINTS (EDGE * EDGE)

// One line of Bt x, its elements `x_step` and `y_step` apart, and of A x.  The
// polynomials are evaluated at 0, P, -P, Q, -Q and infinity, or at 0, 1, -1 and
// infinity; all constants are exact.
#if TILE == 4
#define P 0.6875f
#define Q 1.5f

static inline void transform_input(const float16* x, int x_step, float16* y,
                                   int y_step) {
  const float16 x1 = x[x_step];
  const float16 x2 = x[2 * x_step];
  const float16 x3 = x[3 * x_step];
  const float16 x4 = x[4 * x_step];
  const float16 even_p = multiply_add(x2, -Q * Q, x4);
  const float16 odd_p = multiply_add(x1, -Q * Q, x3);
  const float16 even_q = multiply_add(x2, -P * P, x4);
  const float16 odd_q = multiply_add(x1, -P * P, x3);
  y[0] =
      multiply_add(x[0], P * P * Q * Q, multiply_add(x2, -(P * P + Q * Q), x4));
  y[y_step] = multiply_add(odd_p, P, even_p);
  y[2 * y_step] = multiply_add(odd_p, -P, even_p);
  y[3 * y_step] = multiply_add(odd_q, Q, even_q);
  y[4 * y_step] = multiply_add(odd_q, -Q, even_q);
  y[5 * y_step] = multiply_add(
      x1, P * P * Q * Q, multiply_add(x3, -(P * P + Q * Q), x[5 * x_step]));
}

static inline void transform_output(const float16* x, int x_step, float16* y,
                                    int y_step) {
  const float16 even_p = x[x_step] + x[2 * x_step];
  const float16 odd_p = x[x_step] - x[2 * x_step];
  const float16 even_q = x[3 * x_step] + x[4 * x_step];
  const float16 odd_q = x[3 * x_step] - x[4 * x_step];
  y[0] = x[0] + even_p + even_q;
  y[y_step] = multiply_add(odd_q, Q, odd_p * P);
  y[2 * y_step] = multiply_add(even_q, Q * Q, even_p * (P * P));
  y[3 * y_step] = multiply_add(odd_q, Q * Q * Q,
                               multiply_add(odd_p, P * P * P, x[5 * x_step]));
}
#else
static inline void transform_input(const float16* x, int x_step, float16* y,
                                   int y_step) {
  y[0] = x[2 * x_step] - x[0];
  y[y_step] = x[2 * x_step] + x[x_step];
  y[2 * y_step] = x[2 * x_step] - x[x_step];
  y[3 * y_step] = x[3 * x_step] - x[x_step];
}

static inline void transform_output(const float16* x, int x_step, float16* y,
                                    int y_step) {
  y[0] = x[0] + x[x_step] + x[2 * x_step];
  y[y_step] = x[x_step] - x[2 * x_step] + x[3 * x_step];
}
#endif

__kernel void conv2d_winograd_input(__global const float* input,
                                    int input_offset, __global float* patches,
                                    int patches_offset, int in_w, int in_h,
                                    int in_blocks, int tiles_w, int tiles_h,
                                    int first_tile, int tiles, int pad_left,
                                    int pad_top, int run) {
  const int begin = get_global_id(0) * run;
  const int group = get_global_id(1);
  if (begin >= in_blocks || group * TILES >= tiles) return;
  const int end = min(begin + run, in_blocks);
  const int step = in_blocks * TILES;

  for (int block = begin; block < end; ++block) {
    for (int i = 0; i < TILES; ++i) {
      // A group beyond the last tile repeats it.
      const int tile = first_tile + min(group * TILES + i, tiles - 1);
      const int left = tile % tiles_w * TILE - pad_left;
      const int top = tile / tiles_w % tiles_h * TILE - pad_top;
      const int n = tile / tiles_w / tiles_h;
      const int inside =
          left >= 0 && top >= 0 && left + EDGE <= in_w && top + EDGE <= in_h;
      __global const float* first =
          input + input_offset +
          (((n * in_blocks + block) * in_h + top) * in_w + left) * 16;
      float16 lines[POINTS];
#pragma unroll
      for (int x = 0; x < EDGE; ++x) {
        const int in_x = left + x >= 0 && left + x < in_w;
        float16 column[EDGE];
#pragma unroll
        for (int y = 0; y < EDGE; ++y) {
          const int in_y = top + y >= 0 && top + y < in_h;
          column[y] = inside || (in_x && in_y)
                          ? TIM_VLOAD16(y * in_w + x, first, float)
                          : (float16)(0.0f);
        }
        transform_input(column, 1, lines + x, EDGE);
      }
      __global float* out = patches + patches_offset +
                            (group * POINTS * step + block * TILES + i) * 16;
#pragma unroll
      for (int y = 0; y < EDGE; ++y) {
        float16 row[EDGE];
        transform_input(lines + y * EDGE, 1, row, 1);
#pragma unroll
        for (int x = 0; x < EDGE; ++x) {
          TIM_VSTORE16(row[x], (y * EDGE + x) * step, out, float);
        }
      }
    }
  }
}

// The sums over channels of a group's patches, [TILES, BLOCKS, POINTS] vectors.
// One moving pointer each: the tiles of a group are at constant distances.
static inline void multiply(__global const float* patch,
                            __global const float* weight, int in_blocks,
                            float16* products) {
  for (int point = 0; point < POINTS; ++point, products += BLOCKS * TILES) {
    float16 sum0[TILES];
#if BLOCKS == 2
    float16 sum1[TILES];
#endif
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      sum0[i] = 0.0f;
#if BLOCKS == 2
      sum1[i] = 0.0f;
#endif
    }
    for (int block = 0; block < in_blocks; ++block, patch += (TILES - 1) * 16) {
      for (int c = 0; c < 16; ++c, weight += BLOCKS * 16, ++patch) {
        const float16 w0 = TIM_VLOAD16(0, weight, float);
#if BLOCKS == 2
        const float16 w1 = TIM_VLOAD16(1, weight, float);
#endif
#pragma unroll
        for (int i = 0; i < TILES; ++i) {
          const float16 x = (float16)(patch[i * 16]);
          sum0[i] = multiply_add(x, w0, sum0[i]);
#if BLOCKS == 2
          sum1[i] = multiply_add(x, w1, sum1[i]);
#endif
        }
      }
    }
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      products[i] = sum0[i];
#if BLOCKS == 2
      products[TILES + i] = sum1[i];
#endif
    }
  }
}

__kernel void conv2d_winograd_output(__global const float* patches,
                                     int patches_offset,
                                     __global const float* weights,
                                     int weights_offset,
                                     TIM_EPILOGUE_PARAMETERS, int in_blocks,
                                     int tiles_w, int tiles_h, int first_tile,
                                     int tiles, conv_sizes sizes, int parts) {
  const int group = get_global_id(0);
  const int part = get_global_id(2);
  if (group * TILES >= tiles || part >= parts) return;
  const int depth = in_blocks * 16;

  float16 products[POINTS * BLOCKS * TILES];
  multiply(patches + patches_offset + group * POINTS * depth * TILES,
           weights + weights_offset + part * POINTS * depth * BLOCKS * 16,
           in_blocks, products);

  const int out_blocks = (sizes.out_channels + 15) / 16;
  for (int o = 0; o < BLOCKS; ++o) {
    const int block = part * BLOCKS + o;
    if (block >= out_blocks) continue;
    const int16 mask = channel_mask(block * 16, sizes.out_channels);
    const float16 more = LOAD_MORE(block * 16);
    const int count = min(tiles - group * TILES, TILES);
    for (int i = 0; i < count; ++i) {
      const int tile = first_tile + group * TILES + i;
      const int left = tile % tiles_w * TILE;
      const int top = tile / tiles_w % tiles_h * TILE;
      const int n = tile / tiles_w / tiles_h;
      float16 lines[TILE * EDGE];
#pragma unroll
      for (int x = 0; x < EDGE; ++x) {
        transform_output(products + (x * BLOCKS + o) * TILES + i,
                         EDGE * BLOCKS * TILES, lines + x, EDGE);
      }
#pragma unroll
      for (int y = 0; y < TILE; ++y) {
        if (top + y >= sizes.out_h) continue;
        float16 row[TILE];
        transform_output(lines + y * EDGE, 1, row, 1);
        const int first =
            (((n * out_blocks + block) * sizes.out_h + top + y) * sizes.out_w +
             left) *
            16;
#pragma unroll
        for (int x = 0; x < TILE; ++x) {
          if (left + x >= sizes.out_w) continue;
          float16 result = row[x] + more;
#ifdef RESIDUAL
          result += TIM_VLOAD16(x, residual + residual_offset + first, float);
#endif
          result = FINISH(result, low, high);
          TIM_VSTORE16(select((float16)(0.0f), result, mask), x,
                       output + output_offset + first, float);
        }
      }
#ifdef ACTIVATE
      const int rows = min(TILE, sizes.out_h - top);
      const int columns = min(TILE, sizes.out_w - left);
      __global float* corner =
          output + output_offset +
          (((n * out_blocks + block) * sizes.out_h + top) * sizes.out_w +
           left) *
              16;
      for (int p = 0; p < rows * columns; ++p) {
        activate_stored(corner + (p / columns * sizes.out_w + p % columns) * 16,
                        mask, low, high);
      }
#endif
    }
  }
}
