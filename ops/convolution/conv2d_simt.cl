// Float32 convolution of dense tensors as a matrix product whose second factor
// is never stored: rows are output channels of a group, columns are pixels of
// all images, k are the taps (kw, kh, ic).  Formula of conv_sums.cl.
// Dense tensors [W, H, C, N]; weights [Kw, Kh, Ic, Oc].
// One work-group = one tile of ops/launch/simt_tile.clh; dimension 0 = tile
// of pixels, dimension 1 = tile of channels, dimension 2 = group of channels.
// `taps` holds for each k: its distance from the first tap, dx, dy, 1.
//
// -DROWS, -DCOLUMNS  as in ops/launch/simt_tile.clh
// -DBIAS, -DADD a float per output channel that is added
// -DRESIDUAL    a tensor of the output's shape that is added
// -DACTIVATE    kernels/activate.clh

#include "kernels/activate.clh"
#include "ops/convolution/simt_windows.clh"
#include "ops/launch/epilogue.clh"
#include "ops/launch/epilogue_parameters.clh"
#include "ops/launch/simt_tile.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, GROUP, 1))) void
conv2d_simt(__global const float* input, int input_offset,
            __global const float* weights, int weights_offset,
            __global const int4* taps, int taps_offset, TIM_EPILOGUE_PARAMETERS,
            conv_sizes sizes, int terms) {
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
  weights += weights_offset + (group * sizes.group_outputs + first_row) * terms;

  float sums[ROWS * COLUMNS];
  for (int i = 0; i < ROWS * COLUMNS; ++i) sums[i] = 0.0f;
  for (int first_k = 0; first_k < terms; first_k += SLICE) {
    for (int k = lane / TILE_COLUMNS; k < SLICE;
         k += GROUP * GROUP / TILE_COLUMNS) {
      float value = 0.0f;
      if (pixel < pixels && first_k + k < terms) {
        const int4 tap = taps[taps_offset + first_k + k];
        if (is_inside(window, tap, sizes)) {
          value = input[window.first_tap + tap.x];
        }
      }
      b[k * B_STEP + own] = value;
    }
    load_slice(weights + first_k, sizes.group_outputs - first_row,
               terms - first_k, terms, 1, ALONG_DEPTH, TILE_ROWS, a, A_STEP);
    barrier(CLK_LOCAL_MEM_FENCE);
    multiply_slice(a, b, sums);
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  for (int c = 0; c < COLUMNS; ++c) {
    const int column = first_column + get_local_id(0) * COLUMNS + c;
    if (column >= pixels) break;
    for (int r = 0; r < ROWS; ++r) {
      const int row = first_row + get_local_id(1) * ROWS + r;
      if (row >= sizes.group_outputs) break;
      const int oc = group * sizes.group_outputs + row;
      const int index = output_index(column, oc, plane, sizes.out_channels);
      const float result = sums[r * COLUMNS + c] + LOAD_BIAS(oc) +
                           LOAD_ADD(oc) + LOAD_RESIDUAL(index);
      output[output_offset + index] = TIM_ACTIVATE(float, result, low, high);
    }
  }
}
