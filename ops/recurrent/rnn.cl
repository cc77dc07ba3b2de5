// See ops/recurrent/rnn_loop.clh; one work-item = ROWS sequences.

#include "ops/recurrent/rnn_loop.clh"
#include "ops/recurrent/sequence_item.clh"

__kernel void rnn(RNN_OPERANDS) { RNN_LOOP }
