// See ops/recurrent/gru_loop.clh; one work-group = ROWS sequences.

#ifndef ACTIVATION
#define ACTIVATION(T, v, a, b) (v)
#endif
#ifndef RECURRENT
#define RECURRENT(T, v, a, b) (v)
#endif

#include "ops/recurrent/gru_loop.clh"
#include "ops/recurrent/sequence_group.clh"

__kernel void gru_simt(GRU_OPERANDS) { GRU_LOOP }
