// Sums of UnidirectionalSequenceLstm that no step waits for: the products of
// the input, and of the aux input, with their weights for all rows.  Formulas:
// ops/lstm/lstm_node.h; vectors of units and AT: lstm.clh; gates: see GATE.
// One work-item = one vector of units of ROWS rows; dimension 0 = vector,
// dimension 1 = tile of rows.
//
// -DSIMT         lstm.clh
// -DROWS=4 -DGATES=4 -DSIDE_BY_SIDE=2 -DEXACT  lstm_products.clh
// -DIN=F32 -DAUX=F32  types of kernels/elements.clh; without AUX there is no
//                such operand

#include "kernels/elements.clh"
#include "ops/lstm/lstm.clh"
#include "ops/lstm/lstm_products.clh"

#ifndef IN
#define IN F32
#endif

__kernel void lstm_input(__global const TIM_STORAGE(IN) * input,
                         int input_offset, __global const float* weights,
                         int weights_offset,
#ifdef AUX
                         __global const TIM_STORAGE(AUX) * aux, int aux_offset,
                         __global const float* aux_weights,
                         int aux_weights_offset,
#endif
                         __global float* gates, int gates_offset,
                         float input_scale, int input_zero,
#ifdef AUX
                         float aux_scale, int aux_zero, int aux_width,
#endif
                         int width, int vectors, int rows) {
  const int vector = get_global_id(0);
  const int first = get_global_id(1) * ROWS;
  if (vector >= vectors || first >= rows) return;
  // Beyond the last row that one is read again.
  __global const TIM_STORAGE(IN) * x[ROWS];
#ifdef AUX
  __global const TIM_STORAGE(AUX) * a[ROWS];
#endif
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int row = min(first + r, rows - 1);
    x[r] = input + input_offset + row * width;
#ifdef AUX
    a[r] = aux + aux_offset + row * aux_width;
#endif
  }
  FOR_GATES(gate) {
    VECTOR sums[ROWS * SIDE_BY_SIDE];
#pragma unroll
    for (int i = 0; i < ROWS * SIDE_BY_SIDE; ++i) sums[i] = 0.0f;
    ADD_PRODUCTS(sums, gate, SIDE_BY_SIDE, GATES, weights + weights_offset,
                 vector, width, vectors,
                 TIM_LOAD_REAL(IN, x[r], k, input_scale, input_zero))
#ifdef AUX
    ADD_PRODUCTS(sums, gate, SIDE_BY_SIDE, GATES,
                 aux_weights + aux_weights_offset, vector, aux_width, vectors,
                 TIM_LOAD_REAL(AUX, a[r], k, aux_scale, aux_zero))
#endif
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      if (first + r >= rows) continue;
#pragma unroll
      for (int g = 0; g < SIDE_BY_SIDE; ++g) {
        STORE(
            sums[r * SIDE_BY_SIDE + g],
            gates + gates_offset + GATE(first + r, vector, gate + g, vectors));
      }
    }
  }
}
