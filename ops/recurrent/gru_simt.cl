// See ops/recurrent/gru_loop.clh; one work-group = ROWS sequences.

#ifndef ACTIVATION
#define ACTIVATION(T, v, a, b) (v)
#define ACTIVATION_A 0.0f
#define ACTIVATION_B 0.0f
#endif
#ifndef RECURRENT
#define RECURRENT(T, v, a, b) (v)
#define RECURRENT_A 0.0f
#define RECURRENT_B 0.0f
#endif

#include "ops/recurrent/gru_loop.clh"
#include "ops/recurrent/sequence_group.clh"

__kernel void gru_simt(GRU_OPERANDS) { GRU_LOOP }
