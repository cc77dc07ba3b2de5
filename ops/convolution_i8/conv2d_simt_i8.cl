// Convolution of 8-bit codes of dense tensors for GPUs: as conv2d_simt.cl, a
// matrix product whose second factor is never stored.  Formula of conv_sums.cl,
// sums as in ops/elements/byte_sum.h.
// Dense tensors [W, H, C, N]; weights packed [outputs of a group, words,
// groups]; a word has 4 input channels of one tap, words are (kw, kh, ic / 4).
// One work-group = one tile of ops/launch/simt_tile.clh; dimension 0 = tile
// of pixels, dimension 1 = tile of channels, dimension 2 = group of channels.
// `taps` holds for each word: its distance from the first tap, dx, dy, and how
// many channels it has.  Pixels outside of the image are the zero point.
//
// -DIN0=U8 -DOUT=U8  types: U8 or I8
// -DDOT=PLAIN   form of kernels/bytes/word_dot.clh
// -DROWS, -DCOLUMNS  as in ops/launch/simt_tile.clh
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

#include "kernels/bytes/one_byte_result.clh"
#include "kernels/bytes/word_dot.clh"
#include "ops/convolution/simt_windows.clh"
#define TILE_TYPE int
#define TILE_ADD(sum, weights, pixels) TIM_WORD_DOT(DOT, sum, pixels, weights)
#include "ops/launch/simt_tile.clh"

// `count` channels of a pixel, `plane` apart.
static inline int load_channels(__global const uchar* input, int first,
                                int plane, int count, int inside, int zero) {
  uint word = 0;
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    if (c >= count) break;
    const uchar code =
        inside ? TIM_UNSIGNED_BYTES(IN0, input[first + c * plane]) : zero;
    word |= (uint)code << (8 * c);
  }
  return as_int(word);
}

__kernel __attribute__((reqd_work_group_size(GROUP, GROUP, 1))) void
conv2d_simt_i8(__global const uchar* input, int input_offset,
               __global const int* weights, int weights_offset,
               __global const int4* taps, int taps_offset,
               __global const int* channels, int channels_offset,
               __global uchar* output, int output_offset, int input_zero,
               int output_zero, int low, int high, conv_sizes sizes,
               int terms) {
  LOCAL_SLICE(a, A_STEP);
  LOCAL_SLICE(b, B_STEP);
  const int lane = get_local_id(1) * GROUP + get_local_id(0);
  const int group = get_group_id(2);
  const int first_row = get_group_id(1) * TILE_ROWS;
  const int first_column = get_group_id(0) * TILE_COLUMNS;
  const int plane = sizes.out_w * sizes.out_h;
  const int pixels = plane * sizes.batch;

  // The pixel whose input this item copies.
  const int own = lane % TILE_COLUMNS;
  const int pixel = first_column + own;
  const simt_window window = window_of(pixel, group, sizes);
  input += input_offset;
  weights += weights_offset + group * terms * sizes.group_outputs + first_row;

  int sums[ROWS * COLUMNS];
  for (int i = 0; i < ROWS * COLUMNS; ++i) sums[i] = 0;
  int bytes[COLUMNS];
  for (int c = 0; c < COLUMNS; ++c) bytes[c] = 0;
  for (int first_k = 0; first_k < terms; first_k += SLICE) {
    for (int k = lane / TILE_COLUMNS; k < SLICE;
         k += GROUP * GROUP / TILE_COLUMNS) {
      int word = 0;
      if (pixel < pixels && first_k + k < terms) {
        const int4 tap = taps[taps_offset + first_k + k];
        word = load_channels(input, window.first_tap + tap.x,
                             sizes.in_w * sizes.in_h, tap.w,
                             is_inside(window, tap, sizes), input_zero);
      }
      b[k * B_STEP + own] = word;
    }
    load_slice(weights + first_k * sizes.group_outputs,
               sizes.group_outputs - first_row, terms - first_k, 1,
               sizes.group_outputs, ALONG_ITEMS, TILE_ROWS, a, A_STEP);
    barrier(CLK_LOCAL_MEM_FENCE);
    multiply_slice(a, b, sums);
#ifdef WEIGHT_ZERO
    for (int k = 0; k < SLICE; ++k) {
      for (int c = 0; c < COLUMNS; ++c) {
        TIM_WORD_DOT(DOT, bytes[c],
                     b[k * B_STEP + get_local_id(0) * COLUMNS + c], 0x01010101);
      }
    }
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  for (int r = 0; r < ROWS; ++r) {
    const int row = first_row + get_local_id(1) * ROWS + r;
    if (row >= sizes.group_outputs) break;
    const int oc = group * sizes.group_outputs + row;
    for (int c = 0; c < COLUMNS; ++c) {
      const int column = first_column + get_local_id(0) * COLUMNS + c;
      if (column >= pixels) break;
      output[output_offset +
             output_index(column, oc, plane, sizes.out_channels)] =
          tim_one_byte_result(sums[r * COLUMNS + c], bytes[c],
                              channels + channels_offset, oc, output_zero, low,
                              high);
    }
  }
}
