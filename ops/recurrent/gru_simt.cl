// See ops/recurrent/gru_loop.clh; one work-group = ROWS sequences.

#include "ops/recurrent/gru_loop.clh"
#include "ops/recurrent/sequence_group.clh"

__kernel void gru_simt(GRU_OPERANDS) { GRU_LOOP }
