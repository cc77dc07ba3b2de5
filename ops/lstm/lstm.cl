// See ops/lstm/lstm_loop.clh; one work-item = ROWS batch items.

#include "ops/lstm/lstm_item.clh"
#include "ops/lstm/lstm_loop.clh"

__kernel void lstm(LSTM_OPERANDS) { LSTM_LOOP }
