// Matrix products of 8-bit codes on packed panels, for CPUs: codes of
//   c(n, m) = sum over k of (a(k, m) - za) * (b(n, k) - zb)
// as in ops/elements/byte_sum.h; c is dense [columns, rows, batch].
//   gemm_i8_rows     panels[p][g][r] = bytes a' of k = 4 g .. 4 g + 3 in row
//                    p * ROWS + r; in a last group their sum over k, with
//                    WEIGHT_ZERO
//   gemm_i8_columns  panels[p][g][lane] = bytes p of the same k in column
//                    p * 16 * BLOCKS + lane; 0 beyond the last k and column,
//                    and for every 16 columns a row of the table
//   gemm_i8          c
// x(item, k) is at item * item_step + k * depth_step.
// gemm_i8_rows: one work-item = a panel; dimension 0 = panel, dimension 1 =
// batch.  gemm_i8_columns: one work-item = 16 columns; dimension 0 = columns,
// dimension 1 = batch.  gemm_i8: one work-item = ROWS x (16 * BLOCKS) elements;
// dimension 0 = tile of rows, dimension 1 = tile of columns, dimension 2 =
// batch.
//
// -DIN0=U8 -DIN1=U8 -DOUT=U8  types: U8 or I8
// -DDOT=PLAIN   form of kernels/bytes/byte_dot.clh
// -DROWS=12     rows of a tile
// -DBLOCKS=2    blocks of 16 columns of a tile
// -DNEIGHBOURS  item_step is 1; else depth_step is
// -DWEIGHT_ZERO zp is not 0
// -DTIM_TO_ZERO kernels/requantize.clh
// -DTOTALS      c is the sums themselves, ints; no OUT, no limits

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
#ifndef ROWS
#define ROWS 12
#endif
#ifndef BLOCKS
#define BLOCKS 2
#endif

#include "kernels/bytes/byte_dot.clh"
#include "kernels/bytes/byte_result.clh"
#include "kernels/bytes/word_dot.clh"
#include "ops/gemm/gemm_factor.clh"

#define PANEL_COLUMNS (16 * BLOCKS)

#ifdef TOTALS
#define RESULT int
#else
#define RESULT uchar
#endif

static inline int sum_of_bytes(uint group) {
  const uint pairs = (group & 0xff00ff) + (group >> 8 & 0xff00ff);
  return (pairs & 0xffff) + (pairs >> 16);
}

// Writes the bytes of a row to `to`, ROWS apart, and their sum behind them
// where it counts.
static inline void pack_row(__global const uchar* from, int step, int depth,
                            __global int* to) {
  const uint flip = TIM_SIGN_BITS(IN0);
  int sum = 0;
  int g = 0;
#ifndef NEIGHBOURS
#ifdef WEIGHT_ZERO
  int16 sums = 0;
  const int16 ones = 0x01010101;
  for (; 4 * g + 64 <= depth; g += 16) {
    const int16 groups = TIM_VLOAD16(0, from + 4 * g, int) ^ (int)flip;
    TIM_DOT(DOT, sums, groups, ones);
    int lanes[16];
    TIM_VSTORE16_PRIVATE(groups, 0, lanes, int);
#pragma unroll
    for (int i = 0; i < 16; ++i) to[(g + i) * ROWS] = lanes[i];
  }
  const int8 of_8 = sums.lo + sums.hi;
  const int4 of_4 = of_8.lo + of_8.hi;
  sum = of_4.x + of_4.y + of_4.z + of_4.w;
#else
  for (; 4 * g + 4 <= depth; ++g) {
    to[g * ROWS] = as_uint(vload4(0, from + 4 * g)) ^ flip;
  }
#endif
#endif
  for (; 4 * g < depth; ++g) {
    const uint group =
        tim_load_word(from + 4 * g * step, step, depth - 4 * g, flip);
    to[g * ROWS] = group;
    sum += sum_of_bytes(group);
  }
  to[g * ROWS] = sum;
}

__kernel void gemm_i8_rows(__global const uchar* x, int x_offset,
                           __global int* panels, int panels_offset,
                           gemm_factor source, int depth, int panel_count) {
  const int panel = get_global_id(0);
  const int batch = get_global_id(1);
  if (panel >= panel_count || batch >= source.batches) return;
  const int groups = (depth + 3) / 4;
  __global int* out = panels + panels_offset +
                      (batch * panel_count + panel) * (groups + 1) * ROWS;
  for (int r = 0; r < ROWS; ++r) {
    // Beyond the last row it is read again.
    const int row = min(panel * ROWS + r, source.items - 1);
    __global const uchar* from =
        x + x_offset + batch * source.batch_step + row * source.item_step;
    pack_row(from, source.depth_step, depth, out + r);
  }
}

// Unsigned weights become signed by their sign bit.
#define WEIGHT_FLIP (TIM_SIGN_BITS(IN1) ^ 0x80808080u)

// Group g of 16 columns from `p` on, of which there are `count`.
static inline int16 load_columns(__global const uchar* p, int g, int count,
                                 int depth, int item_step, int depth_step) {
#ifdef NEIGHBOURS
  if (count >= 16) {
    int16 group = 0;
    for (int i = 0; i < 4 && 4 * g + i < depth; ++i) {
      const uchar16 bytes =
          TIM_VLOAD16(0, p + (4 * g + i) * depth_step, uchar) ^
          (uchar)(WEIGHT_FLIP & 0xff);
      group |= convert_int16(bytes) << (8 * i);
    }
    return group;
  }
#endif
  int lanes[16];
  for (int i = 0; i < 16; ++i) {
    lanes[i] = i < count ? tim_load_word(p + i * item_step + 4 * g * depth_step,
                                         depth_step, depth - 4 * g, WEIGHT_FLIP)
                         : 0;
  }
  return vload16(0, lanes);
}

__kernel void gemm_i8_columns(__global const uchar* x, int x_offset,
                              __global int* panels, int panels_offset,
                              __global int* channels, int channels_offset,
                              gemm_factor source, int depth, int panel_count,
                              int input_zero, int weight_zero, float factor) {
  const int block = get_global_id(0);
  const int batch = get_global_id(1);
  if (block >= panel_count * BLOCKS || batch >= source.batches) return;
  const int groups = (depth + 3) / 4;
  __global int* out =
      panels + panels_offset +
      (batch * panel_count + block / BLOCKS) * groups * PANEL_COLUMNS +
      block % BLOCKS * 16;
  const int16 ones = 0x01010101;
  int16 sum = 0;
  for (int g = 0; g < groups; ++g) {
    const int16 group = load_columns(x + x_offset + batch * source.batch_step +
                                         block * 16 * source.item_step,
                                     g, source.items - block * 16, depth,
                                     source.item_step, source.depth_step);
    TIM_VSTORE16(group, 0, out + g * PANEL_COLUMNS, int);
    TIM_DOT(DOT, sum, ones, group);
  }
  __global int* row =
      channels + channels_offset + (batch * panel_count * BLOCKS + block) * 48;
  const uint16 terms = as_uint16(weight_zero * depth - sum);
  TIM_VSTORE16(as_int16(terms * (uint)(input_zero)), 0, row, int);
  TIM_VSTORE16(as_int16((float16)(factor)), 1, row, int);
  TIM_VSTORE16((int16)(weight_zero), 2, row, int);
}

__kernel void gemm_i8(__global const int* a, int a_offset,
                      __global const int* b, int b_offset,
                      __global const int* channels, int channels_offset,
                      __global RESULT* output, int output_offset,
                      int output_zero, int low, int high, gemm_factor a_source,
                      gemm_factor b_source, int depth, int channels_batch) {
  const int rows = a_source.items;
  const int columns = b_source.items;
  const int first_row = get_global_id(0) * ROWS;
  const int first_block = get_global_id(1) * BLOCKS;
  const int batch = get_global_id(2);
  if (first_row >= rows || first_block * 16 >= columns) return;
  const int groups = (depth + 3) / 4;
  const int b_of_batch = batch_of(batch, b_source);
  a += a_offset + batch_of(batch, a_source) * a_source.batch_step +
       get_global_id(0) * (groups + 1) * ROWS;
  b += b_offset + b_of_batch * b_source.batch_step +
       get_global_id(1) * groups * PANEL_COLUMNS;
  int16 sum[ROWS][BLOCKS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int j = 0; j < BLOCKS; ++j) sum[r][j] = 0;
  }
  for (int g = 0; g < groups; ++g, a += ROWS, b += PANEL_COLUMNS) {
    int16 w[BLOCKS];
#pragma unroll
    for (int j = 0; j < BLOCKS; ++j) w[j] = TIM_VLOAD16(j, b, int);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const int16 x = (int16)(a[r]);
#pragma unroll
      for (int j = 0; j < BLOCKS; ++j) TIM_DOT(DOT, sum[r][j], x, w[j]);
    }
  }

  output += output_offset + batch * rows * columns;
#pragma unroll
  for (int j = 0; j < BLOCKS; ++j) {
    const int first = (first_block + j) * 16;
    if (first >= columns) break;
    __global const int* table =
        channels + channels_offset + b_of_batch * channels_batch;
#ifdef TOTALS
    const uint16 offset =
        as_uint16(tim_load_byte_offset(table, first_block + j));
#else
    const tim_byte_channels rule = tim_load_byte_channels(
        table, first_block + j, columns, output_zero, low, high);
#endif
#ifdef WEIGHT_ZERO
    const int16 weight_zero = tim_load_weight_zero(table, first_block + j);
#endif
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      if (first_row + r >= rows) continue;
#ifdef WEIGHT_ZERO
      sum[r][j] = tim_less_weight_zero(sum[r][j], a[r], weight_zero);
#endif
#ifdef TOTALS
      const int16 result = as_int16(as_uint16(sum[r][j]) + offset);
#else
      const uchar16 result = tim_byte_result(sum[r][j], rule);
#endif
      __global RESULT* to = output + (first_row + r) * columns + first;
      if (first + 16 <= columns) {
        TIM_VSTORE16(result, 0, to, RESULT);
      } else {
        RESULT lanes[16];
        TIM_VSTORE16_PRIVATE(result, 0, lanes, RESULT);
        for (int i = 0; i < columns - first; ++i) to[i] = lanes[i];
      }
    }
  }
}
