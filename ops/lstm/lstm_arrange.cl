// Weights and parameters of UnidirectionalSequenceLstm as real values where
// lstm.cl reads them.
//   lstm_zero     floats[i] = 0
//   lstm_arrange  x(k, u) at begin + AT(vector of u, k, gate) + its lane; x is
//                 dense [depth, units]
//   lstm_add      floats[begin + i] += value
// One work-item = one float.
//
// -DSIMT    lstm.clh
// -DIN=F32  types of kernels/elements.clh

#include "kernels/elements.clh"
#include "ops/lstm/lstm.clh"

#ifndef IN
#define IN F32
#endif

__kernel void lstm_zero(__global float* floats, int floats_offset, int count) {
  const int i = get_global_id(0);
  if (i >= count) return;
  floats[floats_offset + i] = 0.0f;
}

// add: to what an earlier launch stored.
__kernel void lstm_arrange(__global const TIM_STORAGE(IN) * x, int x_offset,
                           __global float* floats, int floats_offset,
                           float x_scale, int x_zero, int begin, int depth,
                           int gate, int gates, int units, int vectors,
                           int add) {
  const int i = get_global_id(0);
  if (i >= units * depth) return;
  const int k = i % depth;
  const int u = i / depth;
  const float real = TIM_LOAD_REAL(IN, x, x_offset + i, x_scale, x_zero);
  __global float* to = floats + floats_offset + begin +
                       AT(u / LANES, k, gate, gates, depth, vectors) +
                       u % LANES;
  *to = add ? *to + real : real;
}

__kernel void lstm_add(__global float* floats, int floats_offset, int begin,
                       float value, int count) {
  const int i = get_global_id(0);
  if (i >= count) return;
  floats[floats_offset + begin + i] += value;
}
