// See ops/recurrent/gru_loop.clh; one work-item = ROWS sequences.

#ifndef ACTIVATION
#define ACTIVATION(T, v, a, b) (v)
#endif
#ifndef RECURRENT
#define RECURRENT(T, v, a, b) (v)
#endif

#include "ops/recurrent/gru_loop.clh"
#include "ops/recurrent/sequence_item.clh"

__kernel void gru(GRU_OPERANDS) { GRU_LOOP }
