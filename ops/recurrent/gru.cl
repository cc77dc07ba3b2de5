// See ops/recurrent/gru_loop.clh; one work-item = ROWS sequences.

#include "ops/recurrent/gru_loop.clh"
#include "ops/recurrent/sequence_item.clh"

__kernel void gru(GRU_OPERANDS) { GRU_LOOP }
