// Channels between tensors in blocks of 16, [16, inner, blocks, outer].  Rows
// of `table`: {block of y, mode, channel of x or less than 0 for each lane}:
//   SHIFT    channels one after the other, then zeros
//   GATHER   channels from anywhere, and zeros
//   SCATTER  the same, but lanes of -2 are left as they are
// One work-item makes `positions` positions of one block of y.
//
// -DT=uint  unsigned type of an element's size

#include "kernels/memory16.clh"

#ifndef T
#define T uint
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define T16 PASTE(T, 16)

#define SHIFT 0
#define GATHER 1
#define ROW 18  // words of a row
#define ZERO (-1)

// A lane of all ones where `lane` < n.
static inline T16 lanes_below(int n) {
  T lane[16];
  for (int i = 0; i < 16; ++i) lane[i] = i < n ? (T) ~(T)0 : (T)0;
  return vload16(0, lane);
}

// Lanes from `shift` on of the positions of one block, then those of the next.
static inline void shift_block(__global const T* x, __global T* y, int count,
                               int next, int shift, int run, T zero) {
  const T16 own = lanes_below(16 - shift);
  const T16 filled = lanes_below(run);
  const T16 rest = (T16)(zero) & ~filled;
  if (shift == 0) {
    for (int i = 0; i < count; ++i) {
      TIM_VSTORE16((TIM_VLOAD16(i, x, T) & filled) | rest, i, y, T);
    }
    return;
  }
  __global const T* a = x + shift;
  __global const T* b = x + next - (16 - shift);
  for (int i = 0; i < count; ++i) {
    const T16 v = (TIM_VLOAD16(i, a, T) & own) | (TIM_VLOAD16(i, b, T) & ~own);
    TIM_VSTORE16((v & filled) | rest, i, y, T);
  }
}

__kernel void channel_blocks(__global const T* x, int x_offset, __global T* y,
                             int y_offset, __global const int* table,
                             int table_offset, int inner, int x_blocks,
                             int y_blocks, int blocks, int outer, int positions,
                             long zero) {
  const int tiles = (inner - 1) / positions + 1;
  const int index = get_global_id(0) / tiles;
  const int slice = index / blocks;
  if (slice >= outer) return;
  const int first = ((int)get_global_id(0) - index * tiles) * positions;
  const int count = min(positions, inner - first);
  table += table_offset + (index - slice * blocks) * ROW;
  x += x_offset + (slice * x_blocks * inner + first) * 16;
  y += y_offset + ((slice * y_blocks + table[0]) * inner + first) * 16;
  const int mode = table[1];
  table += 2;
  if (mode == SHIFT) {
    const int shift = table[0] % 16;
    int run = 0;
    while (run < 16 && table[run] >= 0) ++run;
    shift_block(x + table[0] / 16 * inner * 16, y, count, inner * 16, shift,
                run, (T)zero);
    return;
  }
  int at[16];
  T other[16];
  T mask[16];
  for (int k = 0; k < 16; ++k) {
    const int channel = max(table[k], 0);
    at[k] = channel / 16 * inner * 16 + channel % 16;
    mask[k] = table[k] >= 0 ? (T) ~(T)0 : (T)0;
    other[k] = table[k] >= 0 ? (T)0 : (T)zero;
  }
  if (mode == GATHER) {
    const T16 taken = vload16(0, mask);
    const T16 rest = vload16(0, other);
    for (int i = 0; i < count; ++i) {
      T lane[16];
#pragma unroll
      for (int k = 0; k < 16; ++k) lane[k] = x[at[k] + i * 16];
      TIM_VSTORE16((vload16(0, lane) & taken) | rest, i, y, T);
    }
    return;
  }
  for (int k = 0; k < 16; ++k) {
    if (table[k] < ZERO) continue;
    for (int i = 0; i < count; ++i) {
      y[i * 16 + k] = (x[at[k] + i * 16] & mask[k]) | other[k];
    }
  }
}
