// fullyconnected.cl of float32 for GPUs and few rows: out(o, m) = sum over k of
// input(k, m) * weights(k, o), then + bias[o] + add[o], then limited.
// Dense tensors: input [K, M], weights [K, O], output [O, M].
// One work-group of GROUP items = one output of ROWS rows; its items read
// neighbouring k, keep partial sums by multiply_add, and add these in pairs.
// Dimension 0 = output, dimension 1 = tile of rows.
//
// -DROWS=1
// -DBIAS, -DADD  a float per output channel that is added
// -DACTIVATE     kernels/activate.clh

#ifndef ROWS
#define ROWS 1
#endif

#include "kernels/activate.clh"
#include "kernels/multiply_add.clh"
#include "ops/launch/epilogue_parameters.clh"

#define GROUP 64

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
fullyconnected_dot_simt(__global const float* input, int input_offset,
                        __global const float* weights, int weights_offset,
                        TIM_EPILOGUE_PARAMETERS, int depth, int outputs,
                        int rows) {
  __local float parts[ROWS * GROUP];
  const int lane = get_local_id(0);
  const int o = get_group_id(0);
  const int first_row = get_global_id(1) * ROWS;
  weights += weights_offset + o * depth;

  // Beyond the last row the last one is read again.
  __global const float* x[ROWS];
  float sums[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    x[r] = input + input_offset + min(first_row + r, rows - 1) * depth;
    sums[r] = 0.0f;
  }
  for (int k = lane; k < depth; k += GROUP) {
    const float weight = weights[k];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      sums[r] = multiply_add(x[r][k], weight, sums[r]);
    }
  }
  for (int r = 0; r < ROWS; ++r) parts[r * GROUP + lane] = sums[r];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = GROUP / 2; step > 0; step /= 2) {
    if (lane < step) {
      for (int r = 0; r < ROWS; ++r) {
        parts[r * GROUP + lane] += parts[r * GROUP + lane + step];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane >= ROWS || first_row + lane >= rows) return;
  float result = parts[lane * GROUP];
#ifdef BIAS
  result += bias[bias_offset + o];
#endif
#ifdef ADD
  result += add[add_offset + o];
#endif
  output[output_offset + (first_row + lane) * outputs + o] =
      TIM_ACTIVATE(float, result, low, high);
}
