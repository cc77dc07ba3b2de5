// Moves elements between dense tensors [inner, channels, outer] and channel
// blocks [b, inner, ceil(channels / b), outer]; b = 1 is dense.  Elements are
// bits; lanes beyond the last channel get `zero`.
//
//   reorder         any blocks: one work-item makes the lanes of one position
//   reorder_pack    dense to blocks of 16, inner >= 16: one work-item makes 16
//                   positions of a block
//   reorder_unpack  the reverse
//   reorder_gather  strided memory to a dense tensor: one work-item an element,
//                   whose number counts through extent0, extent1, extent2 and
//                   the rest
//   reorder_scatter the reverse; what lies between the elements stays
//   reorder_gather8, reorder_scatter8
//                   the same for more than four dimensions
//
// -DT=uint  unsigned type of an element's size

#ifndef T
#define T uint
#endif

#include "kernels/memory16.clh"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define T16 PASTE(T, 16)

__kernel void reorder(__global const T* in, int in_offset, __global T* out,
                      int out_offset, int inner, int channels, int outer,
                      int in_block, int out_block, int zero) {
  const int index = get_global_id(0);
  const int block = index / inner;
  const int position = index - block * inner;
  const int out_blocks = (channels + out_block - 1) / out_block;
  const int in_blocks = (channels + in_block - 1) / in_block;
  const int slice = block / out_blocks;
  if (slice >= outer) return;
  in += in_offset;
  out += out_offset + index * out_block;
  const int first = (block - slice * out_blocks) * out_block;
  for (int lane = 0; lane < out_block; ++lane) {
    const int channel = first + lane;
    T value = (T)zero;
    if (channel < channels) {
      const int part = channel / in_block;
      const int row = slice * in_blocks + part;
      value =
          in[(row * inner + position) * in_block + channel - part * in_block];
    }
    out[lane] = value;
  }
}

// Rotates the bits of the position row * 16 + column of every element by one.
static inline void interleave(const T16* in, T16* out) {
  for (int i = 0; i < 8; ++i) {
    const T16 a = in[i];
    const T16 b = in[i + 8];
    out[2 * i] = (T16)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, a.s4,
                       b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7);
    out[2 * i + 1] = (T16)(a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb, a.sc,
                           b.sc, a.sd, b.sd, a.se, b.se, a.sf, b.sf);
  }
}

// Four rotations swap rows and columns.
static inline void transpose(T16* rows) {
  T16 other[16];
  interleave(rows, other);
  interleave(other, rows);
  interleave(rows, other);
  interleave(other, rows);
}

__kernel void reorder_pack(__global const T* in, int in_offset, __global T* out,
                           int out_offset, int inner, int channels, int outer,
                           int zero) {
  const int tiles = (inner + 15) / 16;
  const int blocks = (channels + 15) / 16;
  const int block = get_global_id(0) / tiles;  // of all slices
  const int slice = block / blocks;
  if (slice >= outer) return;
  // The last tile of a row overlaps the one before it.
  const int tile = (int)get_global_id(0) - block * tiles;
  const int position = min(tile * 16, inner - 16);
  const int first = (block - slice * blocks) * 16;
  in += in_offset + (slice * channels + first) * inner + position;
  out += out_offset + (block * inner + position) * 16;
  T16 rows[16];
  for (int c = 0; c < 16; ++c) {
    rows[c] = (T16)((T)zero);
    if (first + c < channels) rows[c] = TIM_VLOAD16(0, in + c * inner, T);
  }
  transpose(rows);
  for (int i = 0; i < 16; ++i) TIM_VSTORE16(rows[i], i, out, T);
}

__kernel void reorder_unpack(__global const T* in, int in_offset,
                             __global T* out, int out_offset, int inner,
                             int channels, int outer) {
  const int tiles = (inner + 15) / 16;
  const int blocks = (channels + 15) / 16;
  const int block = get_global_id(0) / tiles;
  const int slice = block / blocks;
  if (slice >= outer) return;
  const int tile = (int)get_global_id(0) - block * tiles;
  const int position = min(tile * 16, inner - 16);
  const int first = (block - slice * blocks) * 16;
  in += in_offset + (block * inner + position) * 16;
  out += out_offset + (slice * channels + first) * inner + position;
  T16 rows[16];
  for (int i = 0; i < 16; ++i) rows[i] = TIM_VLOAD16(i, in, T);
  transpose(rows);
  for (int c = 0; c < 16; ++c) {
    if (first + c < channels) TIM_VSTORE16(rows[c], 0, out + c * inner, T);
  }
}

// Where element `i` lies in strided memory.
static inline int strided_position(int i, int extent0, int extent1, int extent2,
                                   int stride0, int stride1, int stride2,
                                   int stride3) {
  const int i1 = i / extent0;
  const int i2 = i1 / extent1;
  const int i3 = i2 / extent2;
  return (i - i1 * extent0) * stride0 + (i1 - i2 * extent1) * stride1 +
         (i2 - i3 * extent2) * stride2 + i3 * stride3;
}

__kernel void reorder_gather(__global const T* in, int in_offset,
                             __global T* out, int out_offset, int count,
                             int extent0, int extent1, int extent2, int stride0,
                             int stride1, int stride2, int stride3) {
  const int i = get_global_id(0);
  if (i >= count) return;
  out[out_offset + i] =
      in[in_offset + strided_position(i, extent0, extent1, extent2, stride0,
                                      stride1, stride2, stride3)];
}

__kernel void reorder_scatter(__global const T* in, int in_offset,
                              __global T* out, int out_offset, int count,
                              int extent0, int extent1, int extent2,
                              int stride0, int stride1, int stride2,
                              int stride3) {
  const int i = get_global_id(0);
  if (i >= count) return;
  out[out_offset + strided_position(i, extent0, extent1, extent2, stride0,
                                    stride1, stride2, stride3)] =
      in[in_offset + i];
}

// Position of element `i` in strided memory of eight dimensions.
static inline int strided_position8(int i, const int* extents,
                                    const int* strides) {
  int position = 0;
  for (int k = 0; k < 7; ++k) {
    const int next = i / extents[k];
    position += (i - next * extents[k]) * strides[k];
    i = next;
  }
  return position + i * strides[7];
}

__kernel void reorder_gather8(__global const T* in, int in_offset,
                              __global T* out, int out_offset, int count,
                              int extent0, int extent1, int extent2,
                              int extent3, int extent4, int extent5,
                              int extent6, int stride0, int stride1,
                              int stride2, int stride3, int stride4,
                              int stride5, int stride6, int stride7) {
  const int i = get_global_id(0);
  if (i >= count) return;
  const int extents[7] = {extent0, extent1, extent2, extent3,
                          extent4, extent5, extent6};
  const int strides[8] = {stride0, stride1, stride2, stride3,
                          stride4, stride5, stride6, stride7};
  out[out_offset + i] = in[in_offset + strided_position8(i, extents, strides)];
}

__kernel void reorder_scatter8(__global const T* in, int in_offset,
                               __global T* out, int out_offset, int count,
                               int extent0, int extent1, int extent2,
                               int extent3, int extent4, int extent5,
                               int extent6, int stride0, int stride1,
                               int stride2, int stride3, int stride4,
                               int stride5, int stride6, int stride7) {
  const int i = get_global_id(0);
  if (i >= count) return;
  const int extents[7] = {extent0, extent1, extent2, extent3,
                          extent4, extent5, extent6};
  const int strides[8] = {stride0, stride1, stride2, stride3,
                          stride4, stride5, stride6, stride7};
  out[out_offset + strided_position8(i, extents, strides)] = in[in_offset + i];
}
