// Float32 matrix product of dense factors for GPUs:
//   c(n, m) = sum over k of a(k, m) * b(n, k), by multiply_add in order of k,
//             then + bias[n] + add[n], then limited to low .. high
// Element (item, k) of a factor is at item * item_step + k * depth_step, one of
// the two steps is 1; c, the output, is dense [columns, rows, batch].
// One work-group = one tile of ops/launch/simt_tile.clh; dimension 0 = tile
// of columns, dimension 1 = tile of rows, dimension 2 = batch.
//
// -DROWS, -DCOLUMNS  as in ops/launch/simt_tile.clh
// -DA=ALONG_DEPTH -DB=ALONG_ITEMS  where the step of a factor is 1
// -DBIAS, -DADD a float per column that is added

#include "kernels/activate.clh"
#include "ops/gemm/gemm_factor.clh"
#include "ops/launch/epilogue.clh"
#include "ops/launch/epilogue_parameters.clh"
#include "ops/launch/simt_tile.clh"

#ifndef A
#define A ALONG_DEPTH
#endif
#ifndef B
#define B ALONG_ITEMS
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, GROUP, 1))) void gemm_simt(
    __global const float* a, int a_offset, __global const float* b,
    int b_offset, TIM_EPILOGUE_PARAMETERS, gemm_factor a_source,
    gemm_factor b_source, int depth) {
  const int rows = a_source.items;
  const int columns = b_source.items;
  LOCAL_SLICE(a_slice, A_STEP);
  LOCAL_SLICE(b_slice, B_STEP);
  const int first_row = get_group_id(1) * TILE_ROWS;
  const int first_column = get_group_id(0) * TILE_COLUMNS;
  const int batch = get_group_id(2);
  a += a_offset + batch_of(batch, a_source) * a_source.batch_step +
       first_row * a_source.item_step;
  b += b_offset + batch_of(batch, b_source) * b_source.batch_step +
       first_column * b_source.item_step;

  float sums[ROWS * COLUMNS];
  for (int i = 0; i < ROWS * COLUMNS; ++i) sums[i] = 0.0f;
  for (int k = 0; k < depth; k += SLICE) {
    load_slice(a + k * a_source.depth_step, rows - first_row, depth - k,
               a_source.item_step, a_source.depth_step, A, TILE_ROWS, a_slice,
               A_STEP);
    load_slice(b + k * b_source.depth_step, columns - first_column, depth - k,
               b_source.item_step, b_source.depth_step, B, TILE_COLUMNS,
               b_slice, B_STEP);
    barrier(CLK_LOCAL_MEM_FENCE);
    multiply_slice(a_slice, b_slice, sums);
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  for (int j = 0; j < COLUMNS; ++j) {
    const int column = first_column + get_local_id(0) * COLUMNS + j;
    if (column >= columns) break;
    const float more = LOAD_BIAS(column) + LOAD_ADD(column);
    for (int i = 0; i < ROWS; ++i) {
      const int row = first_row + get_local_id(1) * ROWS + i;
      if (row >= rows) break;
      const float result = sums[i * COLUMNS + j] + more;
      output[output_offset + (batch * rows + row) * columns + column] =
          TIM_ACTIVATE(float, result, low, high);
    }
  }
}
