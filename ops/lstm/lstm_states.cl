// States and cells of UnidirectionalSequenceLstm between what users have and
// the memory of ops/lstm/lstm_loop.clh, where they are rows of `padded` floats
// from element `begin` on.
//   lstm_load   real values of x, dense [count, rows], to memory, filled up
//               with 0; one work-item = one element of the memory
//   lstm_store  the first `count` floats of each row to y, likewise; one
//               work-item = one element of y
//
// -DIN=F32   type of x (kernels/elements.clh); without it all is 0
// -DOUT=F32  type of y

#include "kernels/elements.clh"

#ifndef OUT
#define OUT F32
#endif

__kernel void lstm_load(
#ifdef IN
    __global const TIM_STORAGE(IN) * x, int x_offset,
#endif
    __global float* memory, int memory_offset,
#ifdef IN
    float x_scale, int x_zero,
#endif
    int begin, int count, int padded, int rows) {
  const int i = get_global_id(0);
  if (i >= padded * rows) return;
  float value = 0.0f;
#ifdef IN
  const int u = i % padded;
  if (u < count) {
    value = TIM_LOAD_REAL(IN, x, x_offset + i / padded * count + u, x_scale,
                          x_zero);
  }
#endif
  memory[memory_offset + begin + i] = value;
}

__kernel void lstm_store(__global const float* memory, int memory_offset,
                         __global TIM_STORAGE(OUT) * y, int y_offset,
                         float y_scale, float y_inverse, int y_zero, int begin,
                         int count, int padded, int rows) {
  const int i = get_global_id(0);
  if (i >= count * rows) return;
  TIM_STORE_REAL(OUT, y, y_offset + i,
                 memory[memory_offset + begin + i / count * padded + i % count],
                 y_scale, y_inverse, y_zero);
}
