// fullyconnected.cl for float32 with vectors along K: 16 partial sums, each by
// multiply_add in order of k, then added in pairs; the rest of K after them.
// Dense tensors: input [K, M], weights [K, O], output [O, M].
// One work-item = OUTPUTS neighbouring outputs of ROWS rows; dimension 0 = tile
// of outputs, dimension 1 = tile of rows.
//
// -DOUTPUTS=4 -DROWS=1
// -DBIAS, -DADD  a float per output channel that is added
// -DACTIVATE     kernels/activate.clh

#ifndef OUTPUTS
#define OUTPUTS 4
#endif
#ifndef ROWS
#define ROWS 1
#endif

#include "kernels/activate.clh"
#include "kernels/memory16.clh"
#include "kernels/multiply_add.clh"
#include "ops/launch/epilogue_parameters.clh"

static inline float sum_of_lanes(float16 v) {
  const float8 a = v.lo + v.hi;
  const float4 b = a.lo + a.hi;
  const float2 c = b.lo + b.hi;
  return c.x + c.y;
}

__kernel void fullyconnected_f32(__global const float* input, int input_offset,
                                 __global const float* weights,
                                 int weights_offset, TIM_EPILOGUE_PARAMETERS,
                                 int depth, int outputs, int rows) {
  const int first_output = get_global_id(0) * OUTPUTS;
  const int first_row = get_global_id(1) * ROWS;
  if (first_output >= outputs || first_row >= rows) return;

  // Beyond the last output or row the last one is read again.
  __global const float* w[OUTPUTS];
  __global const float* x[ROWS];
  for (int o = 0; o < OUTPUTS; ++o) {
    w[o] = weights + weights_offset +
           (long)min(first_output + o, outputs - 1) * depth;
  }
  for (int r = 0; r < ROWS; ++r) {
    x[r] = input + input_offset + (long)min(first_row + r, rows - 1) * depth;
  }
  float16 sums[ROWS * OUTPUTS];
  for (int i = 0; i < ROWS * OUTPUTS; ++i) sums[i] = 0.0f;

  int k = 0;
  for (; k + 16 <= depth; k += 16) {
    float16 factors[OUTPUTS];
#pragma unroll
    for (int o = 0; o < OUTPUTS; ++o) {
      factors[o] = TIM_VLOAD16(0, w[o] + k, float);
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const float16 value = TIM_VLOAD16(0, x[r] + k, float);
#pragma unroll
      for (int o = 0; o < OUTPUTS; ++o) {
        sums[r * OUTPUTS + o] =
            multiply_add(value, factors[o], sums[r * OUTPUTS + o]);
      }
    }
  }

  for (int r = 0; r < ROWS && first_row + r < rows; ++r) {
    for (int o = 0; o < OUTPUTS && first_output + o < outputs; ++o) {
      float result = sum_of_lanes(sums[r * OUTPUTS + o]);
      for (int rest = k; rest < depth; ++rest) {
        result = multiply_add(x[r][rest], w[o][rest], result);
      }
      const int channel = first_output + o;
#ifdef BIAS
      result += bias[bias_offset + channel];
#endif
#ifdef ADD
      result += add[add_offset + channel];
#endif
#ifndef ACTIVATE
      result = TIM_ACTIVATE(float, result, low, high);
#endif
      output[output_offset + (first_row + r) * outputs + channel] = result;
    }
  }
#ifdef ACTIVATE
  const int columns = min(OUTPUTS, outputs - first_output);
  const int count = min(ROWS, rows - first_row) * columns;
  for (int i = 0; i < count; ++i) {
    __global float* stored = output + output_offset +
                             (first_row + i / columns) * outputs +
                             first_output + i % columns;
    const float sum = *stored;
    *stored = ACTIVATE(float, sum, low, high);
  }
#endif
}
