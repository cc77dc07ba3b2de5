// See ops/lstm/lstm_loop.clh; one work-group = ROWS batch items.

#include "ops/lstm/lstm_group.clh"
#include "ops/lstm/lstm_loop.clh"

__kernel void lstm_simt(LSTM_OPERANDS) { LSTM_LOOP }
