// See ops/recurrent/rnn_loop.clh; one work-item = ROWS sequences.

#ifndef ACTIVATION
#define ACTIVATION(T, v, a, b) (v)
#define ACTIVATION_A 0.0f
#define ACTIVATION_B 0.0f
#endif

#include "ops/recurrent/rnn_loop.clh"
#include "ops/recurrent/sequence_item.clh"

__kernel void rnn(__global const float* products, int products_offset,
                  AUX_OPERAND __global const float* recurrent,
                  int recurrent_offset, LOOP_OPERANDS) {
  RNN_LOOP
}
