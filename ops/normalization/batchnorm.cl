// y = (x - mean) * factor + beta, factor = gamma * (1 / sqrt(variance + eps));
// every step rounded to float32, the square root and 1 / x correctly: the same
// bits as eval.
//
//   batchnorm_table   mean, factor and beta of every entry, in parts of `part`
//                     floats: of entry e the four parameters are where the
//                     axes {extent, stride of each} that e counts say; from
//                     `entries` on there are zeros
//   batchnorm_rows    dense: rows of `run` elements, whose entries are
//                     `run_step` apart and begin where the axes {extent,
//                     stride} that the row counts say; one work-item makes
//                     `tile` elements of a row
//   batchnorm_blocks  blocks of 16 channels, an entry for each channel: one
//                     work-item makes `tile` pixels
//
// -DIN=F32 -DOUT=F32  types of kernels/elements16.clh, and
// -DMEAN=F32 -DVARIANCE=F32 -DGAMMA=F32 -DBETA=F32 of batchnorm_table

#include "kernels/elements16.clh"
#include "kernels/exact_math.clh"

#ifndef IN
#define IN F32
#endif
#ifndef OUT
#define OUT F32
#endif
#ifndef MEAN
#define MEAN F32
#endif
#ifndef VARIANCE
#define VARIANCE F32
#endif
#ifndef GAMMA
#define GAMMA F32
#endif
#ifndef BETA
#define BETA F32
#endif

__kernel void batchnorm_table(
    __global const TIM_STORAGE(MEAN) * mean, int mean_offset,
    __global const TIM_STORAGE(VARIANCE) * variance, int variance_offset,
    __global const TIM_STORAGE(GAMMA) * gamma, int gamma_offset,
    __global const TIM_STORAGE(BETA) * beta, int beta_offset,
    __global const int* axes, int axes_offset, __global float* table,
    int table_offset, int axes_count, int entries, int part, float eps) {
  const int entry = get_global_id(0);
  if (entry >= part) return;
  axes += axes_offset;
  table += table_offset;
  int4 at = (int4)(mean_offset, variance_offset, gamma_offset, beta_offset);
  int left = entry;
  for (int axis = 0; axis < axes_count; ++axis) {
    __global const int* const row = axes + 5 * axis;
    at += left % row[0] * (int4)(row[1], row[2], row[3], row[4]);
    left /= row[0];
  }
  float m = 0.0f;
  float f = 0.0f;
  float b = 0.0f;
  if (entry < entries) {
    const float v = TIM_LOAD_REAL(VARIANCE, variance, at.y, 1.0f, 0);
    m = TIM_LOAD_REAL(MEAN, mean, at.x, 1.0f, 0);
    f = TIM_LOAD_REAL(GAMMA, gamma, at.z, 1.0f, 0) *
        tim_reciprocal(tim_sqrt(v + eps));
    b = TIM_LOAD_REAL(BETA, beta, at.w, 1.0f, 0);
  }
  table[entry] = m;
  table[entry + part] = f;
  table[entry + 2 * part] = b;
}

__kernel void batchnorm_rows(__global const TIM_STORAGE(IN) * in, int in_offset,
                             __global TIM_STORAGE(OUT) * out, int out_offset,
                             __global const float* table, int table_offset,
                             int part, __global const int* axes,
                             int axes_offset, int axes_count, int run,
                             int run_step, int rows, int tile, float in_scale,
                             int in_zero, float out_scale, float out_inverse,
                             int out_zero) {
  const int tiles = (run + tile - 1) / tile;
  const int row = get_global_id(0) / tiles;
  if (row >= rows) return;
  in += in_offset + row * run;
  out += out_offset + row * run;
  table += table_offset;
  int left = row;
  for (int axis = 0; axis < axes_count; ++axis) {
    table +=
        left % axes[axes_offset + 2 * axis] * axes[axes_offset + 2 * axis + 1];
    left /= axes[axes_offset + 2 * axis];
  }
  int i = get_global_id(0) % tiles * tile;
  const int end = min(i + tile, run);
  float16 m = table[0];
  float16 f = table[part];
  float16 b = table[2 * part];
  for (; i + 16 <= end; i += 16) {
    if (run_step != 0) {
      m = TIM_VLOAD16(0, table + i, float);
      f = TIM_VLOAD16(0, table + i + part, float);
      b = TIM_VLOAD16(0, table + i + 2 * part, float);
    }
    const float16 x = TIM_LOAD_REAL16(IN, in, i, in_scale, in_zero);
    const float16 y = (x - m) * f + b;
    TIM_STORE_REAL16(OUT, out, i, y, out_scale, out_inverse, out_zero);
  }
  for (; i < end; ++i) {
    const int e = i * run_step;
    const float x = TIM_LOAD_REAL(IN, in, i, in_scale, in_zero);
    const float y = (x - table[e]) * table[e + part] + table[e + 2 * part];
    TIM_STORE_REAL(OUT, out, i, y, out_scale, out_inverse, out_zero);
  }
}

__kernel void batchnorm_blocks(__global const TIM_STORAGE(IN) * in,
                               int in_offset, __global TIM_STORAGE(OUT) * out,
                               int out_offset, __global const float* table,
                               int table_offset, int part, int blocks,
                               int planes, int pixels, int tile, float in_scale,
                               int in_zero, float out_scale, float out_inverse,
                               int out_zero) {
  const int tiles = (pixels + tile - 1) / tile;
  const int plane = get_global_id(0) / tiles;
  if (plane >= planes) return;
  in += in_offset + plane * pixels * 16;
  out += out_offset + plane * pixels * 16;
  table += table_offset + plane % blocks * 16;
  const float16 m = TIM_VLOAD16(0, table, float);
  const float16 f = TIM_VLOAD16(0, table + part, float);
  const float16 b = TIM_VLOAD16(0, table + 2 * part, float);
  const int first = get_global_id(0) % tiles * tile;
  const int last = min(first + tile, pixels);
  for (int i = first * 16; i < last * 16; i += 16) {
    const float16 x = TIM_LOAD_REAL16(IN, in, i, in_scale, in_zero);
    const float16 y = (x - m) * f + b;
    TIM_STORE_REAL16(OUT, out, i, y, out_scale, out_inverse, out_zero);
  }
}
