// See ops/recurrent/rnn_loop.clh; one work-group = ROWS sequences.

#include "ops/recurrent/rnn_loop.clh"
#include "ops/recurrent/sequence_group.clh"

__kernel void rnn_simt(RNN_OPERANDS) { RNN_LOOP }
