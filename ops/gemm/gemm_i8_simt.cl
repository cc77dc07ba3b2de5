// Matrix products of 8-bit codes of dense factors for GPUs: codes of
//   c(n, m) = sum over k of (a(k, m) - za) * (b(n, k) - zb)
// as in ops/elements/byte_sum.h; c is dense [columns, rows, batch].
// Element (item, k) of a factor is at item * item_step + k * depth_step, one of
// the two steps is 1.  Words have 4 neighbours along k.  b is packed
// [columns, words], with a table; or, with VARIABLE, a tensor.
// One work-group = one tile of ops/launch/simt_tile.clh; dimension 0 = tile
// of columns, dimension 1 = tile of rows, dimension 2 = batch.
//
// -DIN0=U8 -DIN1=U8 -DOUT=U8  types: U8 or I8
// -DDOT=PLAIN   form of kernels/bytes/word_dot.clh
// -DROWS, -DCOLUMNS  as in ops/launch/simt_tile.clh
// -DA=ALONG_DEPTH -DB=ALONG_ITEMS  where the step of a factor is 1
// -DVARIABLE    b is read as it is
// -DWEIGHT_ZERO zp is not 0
// -DTIM_TO_ZERO kernels/requantize.clh

#ifndef IN0
#define IN0 U8
#endif
#ifndef IN1
#define IN1 U8
#endif
#ifndef OUT
#define OUT U8
#endif
#ifndef DOT
#define DOT PLAIN
#endif
#ifndef A
#define A ALONG_DEPTH
#endif
#ifndef B
#define B ALONG_ITEMS
#endif

#include "kernels/bytes/one_byte_result.clh"
#include "kernels/bytes/word_dot.clh"
#define TILE_TYPE int
#define TILE_ADD(sum, codes, weights) TIM_WORD_DOT(DOT, sum, codes, weights)
#include "ops/gemm/gemm_factor.clh"
#include "ops/launch/simt_tile.clh"

// Unsigned weights become signed by their sign bit.
#define WEIGHT_FLIP (TIM_SIGN_BITS(IN1) ^ 0x80808080u)

// As load_slice, of words of bytes whose bits of `flip` change; depth and its
// step are those of bytes.
static inline void load_words(__global const uchar* x, int items, int depth,
                              int item_step, int depth_step, int along,
                              int size, uint flip, __local int* slice,
                              int step) {
  const int lane = get_local_id(1) * GROUP + get_local_id(0);
  for (int n = lane; n < size * SLICE; n += GROUP * GROUP) {
    const int i = along == ALONG_ITEMS ? n % size : n / SLICE;
    const int k = along == ALONG_ITEMS ? n / size : n % SLICE;
    slice[k * step + i] =
        i < items && 4 * k < depth
            ? tim_load_word(x + i * item_step + 4 * k * depth_step, depth_step,
                            depth - 4 * k, flip)
            : 0;
  }
}

// The code of element (i, j) of a tile.
#ifdef VARIABLE
#define RESULT(i, j, column)                                                   \
  tim_one_byte_code(without_zeros(sums[(i)*COLUMNS + (j)], codes[i],           \
                                  weights[j], depth, input_zero, weight_zero), \
                    factor, output_zero, low, high)

static inline int without_zeros(int sum, int codes, int weights, int depth,
                                int input_zero, int weight_zero) {
  const uint more = (uint)input_zero * (uint)(weight_zero * depth - weights) -
                    (uint)weight_zero * (uint)codes;
  return as_int((uint)sum + more);
}
#else
#define RESULT(i, j, column)                                                \
  tim_one_byte_result(sums[(i)*COLUMNS + (j)], codes[i],                    \
                      channels + channels_offset, column, output_zero, low, \
                      high)
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, GROUP, 1))) void
gemm_i8_simt(__global const uchar* a, int a_offset,
#ifdef VARIABLE
             __global const uchar* b, int b_offset,
#else
             __global const int* b, int b_offset, __global const int* channels,
             int channels_offset,
#endif
             __global uchar* output, int output_offset, int output_zero,
             int low, int high, gemm_factor a_source, gemm_factor b_source,
             int depth
#ifdef VARIABLE
             ,
             int input_zero, int weight_zero, float factor
#endif
) {
  const int rows = a_source.items;
  const int columns = b_source.items;
  LOCAL_SLICE(a_slice, A_STEP);
  LOCAL_SLICE(b_slice, B_STEP);
  const int first_row = get_group_id(1) * TILE_ROWS;
  const int first_column = get_group_id(0) * TILE_COLUMNS;
  const int batch = get_group_id(2);
  a += a_offset + batch_of(batch, a_source) * a_source.batch_step +
       first_row * a_source.item_step;
#ifdef VARIABLE
  b += b_offset + batch_of(batch, b_source) * b_source.batch_step +
       first_column * b_source.item_step;
#else
  b += b_offset + first_column;
#endif
  int sums[ROWS * COLUMNS];
  for (int i = 0; i < ROWS * COLUMNS; ++i) sums[i] = 0;
  // What the bytes of a row, and of a column that is not packed, add up to.
  int codes[ROWS];
  for (int i = 0; i < ROWS; ++i) codes[i] = 0;
  int weights[COLUMNS];
  for (int j = 0; j < COLUMNS; ++j) weights[j] = 0;
  for (int k = 0; k < depth; k += 4 * SLICE) {
    load_words(a + k * a_source.depth_step, rows - first_row, depth - k,
               a_source.item_step, a_source.depth_step, A, TILE_ROWS,
               TIM_SIGN_BITS(IN0), a_slice, A_STEP);
#ifdef VARIABLE
    load_words(b + k * b_source.depth_step, columns - first_column, depth - k,
               b_source.item_step, b_source.depth_step, B, TILE_COLUMNS,
               WEIGHT_FLIP, b_slice, B_STEP);
#else
    load_slice(b + k / 4 * columns, columns - first_column, (depth - k + 3) / 4,
               1, columns, ALONG_ITEMS, TILE_COLUMNS, b_slice, B_STEP);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    multiply_slice(a_slice, b_slice, sums);
    for (int w = 0; w < SLICE; ++w) {
#ifdef WEIGHT_ZERO
      for (int i = 0; i < ROWS; ++i) {
        TIM_WORD_DOT(DOT, codes[i],
                     a_slice[w * A_STEP + get_local_id(1) * ROWS + i],
                     0x01010101);
      }
#endif
#ifdef VARIABLE
      for (int j = 0; j < COLUMNS; ++j) {
        TIM_WORD_DOT(DOT, weights[j], 0x01010101,
                     b_slice[w * B_STEP + get_local_id(0) * COLUMNS + j]);
      }
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  output += output_offset + batch * rows * columns;
  for (int i = 0; i < ROWS; ++i) {
    const int row = first_row + get_local_id(1) * ROWS + i;
    if (row >= rows) break;
    for (int j = 0; j < COLUMNS; ++j) {
      const int column = first_column + get_local_id(0) * COLUMNS + j;
      if (column >= columns) break;
      output[row * columns + column] = RESULT(i, j, column);
    }
  }
}
