// Matrix products of 8-bit codes on packed panels, for CPUs: codes of
//   c(n, m) = sum over k of (a(k, m) - za) * (b(n, k) - zb)
// as in ops/elements/byte_sum.h; c is dense [columns, rows, batch].
//   gemm_i8_rows     panels[p][g][r] = bytes a' of k = 4 g .. 4 g + 3 in row
//                    p * ROWS + r; with PART panels[p][g / 16][r][g % 16], g
//                    up to a multiple of 16, as in the columns; in a last
//                    group their sum over k, with WEIGHT_ZERO
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
// -DPART=16     by tiles of AMX, each of PART rows, all or half of them; 1 or 2
//               blocks; sums of rows by DOT
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
#ifdef PART
#define PARTS (ROWS / PART)
#include "kernels/bytes/matrix_sums.clh"
#endif
#include "ops/gemm/gemm_factor.clh"

#define PANEL_COLUMNS (16 * BLOCKS)

// Groups of 4 of a row, and where one is in a panel of rows.
#ifdef PART
#define GROUPS(depth) (((depth) + 63) / 64 * 16)
#define GROUP_AT(g, r) ((g) / 16 * 16 * ROWS + (r)*16 + (g) % 16)
#else
#define GROUPS(depth) (((depth) + 3) / 4)
#define GROUP_AT(g, r) ((g)*ROWS + (r))
#endif

#ifdef TOTALS
#define RESULT int
#else
#define RESULT uchar
#endif

static inline int sum_of_bytes(uint group) {
  const uint pairs = (group & 0xff00ff) + (group >> 8 & 0xff00ff);
  return (pairs & 0xffff) + (pairs >> 16);
}

// Stores groups g to g + 15 of row `r` of a panel.
static inline void store_groups(int16 groups, int g, int r,
                                __global int* panel) {
#ifdef PART
  TIM_VSTORE16(groups, 0, panel + GROUP_AT(g, r), int);
#else
  int lanes[16];
  TIM_VSTORE16_PRIVATE(groups, 0, lanes, int);
#pragma unroll
  for (int i = 0; i < 16; ++i) panel[GROUP_AT(g + i, r)] = lanes[i];
#endif
}

// Writes the bytes of a row as row `r` of a panel, and their sum behind them
// where it counts.
static inline void pack_row(__global const uchar* from, int step, int depth,
                            int r, __global int* panel) {
  const uint flip = TIM_SIGN_BITS(IN0);
  int sum = 0;
  int g = 0;
#ifndef NEIGHBOURS
#if defined(WEIGHT_ZERO) || defined(PART)
  int16 sums = 0;
  for (; 4 * g + 64 <= depth; g += 16) {
    const int16 groups = TIM_VLOAD16(0, from + 4 * g, int) ^ (int)flip;
#ifdef WEIGHT_ZERO
    TIM_DOT(DOT, sums, groups, (int16)(0x01010101));
#endif
    store_groups(groups, g, r, panel);
  }
  const int8 of_8 = sums.lo + sums.hi;
  const int4 of_4 = of_8.lo + of_8.hi;
  sum = of_4.x + of_4.y + of_4.z + of_4.w;
#else
  for (; 4 * g + 4 <= depth; ++g) {
    panel[GROUP_AT(g, r)] = as_uint(vload4(0, from + 4 * g)) ^ flip;
  }
#endif
#endif
  for (; 4 * g < depth; ++g) {
    const uint group =
        tim_load_word(from + 4 * g * step, step, depth - 4 * g, flip);
    panel[GROUP_AT(g, r)] = group;
    sum += sum_of_bytes(group);
  }
  for (; g < GROUPS(depth); ++g) panel[GROUP_AT(g, r)] = 0;
  panel[GROUPS(depth) * ROWS + r] = sum;
}

__kernel void gemm_i8_rows(__global const uchar* x, int x_offset,
                           __global int* panels, int panels_offset,
                           gemm_factor source, int depth, int panel_count) {
  const int panel = get_global_id(0);
  const int batch = get_global_id(1);
  if (panel >= panel_count || batch >= source.batches) return;
  const int groups = GROUPS(depth);
  __global int* out = panels + panels_offset +
                      (batch * panel_count + panel) * (groups + 1) * ROWS;
  for (int r = 0; r < ROWS; ++r) {
    // Beyond the last row it is read again.
    const int row = min(panel * ROWS + r, source.items - 1);
    __global const uchar* from =
        x + x_offset + batch * source.batch_step + row * source.item_step;
    pack_row(from, source.depth_step, depth, r, out);
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
  const int groups = GROUPS(depth);
  __global int* out =
      panels + panels_offset +
      (batch * panel_count + block / BLOCKS) * groups * PANEL_COLUMNS +
      block % BLOCKS * 16;
  const int16 ones = 0x01010101;
  int16 sum = 0;
  for (int g = 0; g < groups; ++g) {
    // Groups beyond the last k have no bytes.
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

// Adds the products of all groups of a panel of rows and one of columns to what
// each column adds.
#ifdef PART
#define UNROLL_ROWS

static inline void sum_products(__global const int* a, __global const int* b,
                                __global const int* channels, int first_block,
                                int last_block, int groups,
                                int16 (*sum)[ROWS]) {
#define OFFSETS(j) (channels + min(first_block + (j), last_block) * 48)
  TIM_TILES_BEGIN(PART, 16);
  TIM_START_SUMS(OFFSETS)
  for (int g = 0; g < groups; g += 16) {
    TIM_ADD_PRODUCTS(a, a + 16 * PART, 64, b, BLOCKS * 64)
    a += 16 * ROWS;
    b += 16 * PANEL_COLUMNS;
  }
  TIM_FINISH_SUMS(sum)
  TIM_TILES_END();
#undef OFFSETS
}
#else
#define UNROLL_ROWS _Pragma("unroll")

static inline void sum_products(__global const int* a, __global const int* b,
                                __global const int* channels, int first_block,
                                int last_block, int groups,
                                int16 (*sum)[ROWS]) {
#pragma unroll
  for (int j = 0; j < BLOCKS; ++j) {
    const int16 offset =
        tim_load_byte_offset(channels, min(first_block + j, last_block));
#pragma unroll
    for (int r = 0; r < ROWS; ++r) sum[j][r] = offset;
  }
  for (int g = 0; g < groups; ++g, a += ROWS, b += PANEL_COLUMNS) {
    int16 w[BLOCKS];
#pragma unroll
    for (int j = 0; j < BLOCKS; ++j) w[j] = TIM_VLOAD16(j, b, int);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const int16 x = (int16)(a[r]);
#pragma unroll
      for (int j = 0; j < BLOCKS; ++j) TIM_DOT(DOT, sum[j][r], x, w[j]);
    }
  }
}
#endif

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
  const int groups = GROUPS(depth);
  const int b_of_batch = batch_of(batch, b_source);
  a += a_offset + batch_of(batch, a_source) * a_source.batch_step +
       get_global_id(0) * (groups + 1) * ROWS;
  b += b_offset + b_of_batch * b_source.batch_step +
       get_global_id(1) * groups * PANEL_COLUMNS;
  const int last_block = (columns - 1) / 16;
  channels += channels_offset + b_of_batch * channels_batch;
  int16 sum[BLOCKS][ROWS];
  sum_products(a, b, channels, first_block, last_block, groups, sum);
  a += groups * ROWS;

  output += output_offset + batch * rows * columns;
#pragma unroll
  for (int j = 0; j < BLOCKS; ++j) {
    const int first = (first_block + j) * 16;
    if (first >= columns) break;
#ifndef TOTALS
    const tim_byte_channels rule = tim_load_byte_channels(
        channels, first_block + j, columns, output_zero, low, high);
#endif
#ifdef WEIGHT_ZERO
    const int16 weight_zero = tim_load_weight_zero(channels, first_block + j);
#endif
    UNROLL_ROWS
    for (int r = 0; r < ROWS; ++r) {
      if (first_row + r >= rows) continue;
      int16 total = sum[j][r];
#ifdef WEIGHT_ZERO
      total = tim_less_weight_zero(total, a[r], weight_zero);
#endif
#ifdef TOTALS
      const int16 result = total;
#else
      const uchar16 result = tim_whole_byte_result(total, rule);
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
