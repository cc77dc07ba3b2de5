// Of ops/recurrent/sequence.clh:
//   sequence_pack      packs weights and bias; one work-item = one weight;
//                      dimension 0 = unit, dimension 1 = k
//   sequence_products  out(row) = product of a row of x; one work-item = UNITS
//                      units of ROWS rows; out [padded, rows]
//   sequence_states    the states before the first step, where steps that are
//                      launches read them (sequence_loop.clh); one work-item =
//                      one of padded units of a sequence
//
// -DW=F32  type of the weights
// -DB=F32  type of the bias; without it there is none
// -DX=F32  type of x
// -DSTATE=F32  type of the states; without it they are 0
// -DUNITS=16, -DROWS=4, -DEXACT  see the header; with UNITS=16 dimension 0 =
//          rows, dimension 1 = block of units, else units and rows

#include "ops/recurrent/sequence.clh"

#ifndef W
#define W F32
#endif
#ifndef X
#define X F32
#endif

__kernel void sequence_pack(__global const TIM_STORAGE(W) * weights,
                            int weights_offset,
#ifdef B
                            __global const TIM_STORAGE(B) * bias,
                            int bias_offset,
#endif
                            __global float* packed, int packed_offset,
                            float weights_scale, int weights_zero,
#ifdef B
                            float bias_scale, int bias_zero,
#endif
                            int depth, int units, int padded) {
  const int unit = get_global_id(0);
  const int k = get_global_id(1);
  if (unit >= padded || k > depth) return;
  float value = 0.0f;
  if (unit < units && k < depth) {
    value = TIM_LOAD_REAL(W, weights, weights_offset + unit * depth + k,
                          weights_scale, weights_zero);
  }
#ifdef B
  if (unit < units && k == depth) {
    value = TIM_LOAD_REAL(B, bias, bias_offset + unit, bias_scale, bias_zero);
  }
#endif
  *(WEIGHTS_OF(packed + packed_offset, unit, depth) + k * BLOCK) = value;
}

#define ELEMENT(r, k) TIM_LOAD_REAL(X, of_row[r], k, x_scale, x_zero)

__kernel void sequence_products(__global const TIM_STORAGE(X) * x, int x_offset,
                                __global const float* weights,
                                int weights_offset, __global float* out,
                                int out_offset, float x_scale, int x_zero,
                                int depth, int padded, int rows) {
#if UNITS == 16
  const int row = get_global_id(0) * ROWS;
  const int unit = get_global_id(1) * UNITS;
#else
  const int unit = get_global_id(0);
  const int row = get_global_id(1) * ROWS;
#endif
  if (unit >= padded || row >= rows) return;
  // Beyond the last row that one is read again.
  __global const TIM_STORAGE(X) * of_row[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    of_row[r] = x + x_offset + min(row + r, rows - 1) * depth;
  }
  VALUES sum[ROWS];
  PRODUCTS(sum, ELEMENT, WEIGHTS_OF(weights + weights_offset, unit, depth),
           depth)
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (row + r < rows) {
      STORE_VALUES(sum[r], out + out_offset + (row + r) * padded + unit);
    }
  }
}

// vectors: rows of memory for each sequence.
__kernel void sequence_states(
#ifdef STATE
    __global const TIM_STORAGE(STATE) * state, int state_offset,
#endif
    __global float* memory, int memory_offset,
#ifdef STATE
    float state_scale, int state_zero,
#endif
    int units, int padded, int batch, int vectors, int sequences) {
  const int unit = get_global_id(0) % padded;
  const int n = get_global_id(0) / padded;
  if (n >= sequences) return;
  float value = 0.0f;
#ifdef STATE
  // Beyond the batch its last sequence is repeated.
  if (unit < units) {
    value = TIM_LOAD_REAL(STATE, state,
                          state_offset + min(n, batch - 1) * units + unit,
                          state_scale, state_zero);
  }
#endif
  const int row = n / ROWS * ROWS * vectors + n % ROWS;
  memory[memory_offset + row * padded + unit] = value;
}
