// Convolution, transposed or not, of any type, stride, dilation, padding and
// number of groups:
//   y(x, y, z, oc, n) = bias(oc) + sum over ic, kd, kh, kw of
//       input(x * stride_w - pad_w + kw * dilation_w, ..., g * Ic + ic, n)
//       * weights(kw, kh, kd, ic, oc)
// with g = oc / group_outputs; positions outside of the input count 0.
// Dense tensors [W, H, D, C, N]; weights [Kw, Kh, Kd, Ic, Oc].
// One work-item = one output element; dimension 0 = x + out_w * (y + out_h *
// z), dimension 1 = output channel, dimension 2 = batch.
//
// -DDEPTH       there is an axis D
// -DTRANSPOSED  input((x + pad_w - kw) / stride_w, ..., g * Ic + ic, n), of the
//               taps whose quotients are integers
// All others: kernels/product_sum.clh.

#include "kernels/product_sum.clh"
#include "ops/convolution/conv_sizes.clh"

// A window takes along an axis taps s0, s0 + TAP_STEP, ... of the input
// positions s1, s1 + POSITION_STEP, ..., as far as there are such.  TAPS_BEFORE
// a row is written as compilers for CPUs make the faster loop of it.
#ifdef TRANSPOSED
#define TAP_STEP(axis) sizes.stride_##axis
#define TAPS_BEFORE(kd, kh) (((kd)*sizes.kernel_h + (kh)) * sizes.kernel_w)
#define POSITION_STEP(axis) -1
#define WINDOW(axis, output) \
  phase_taps((output) + sizes.pad_##axis, sizes.stride_##axis)
// No tap reaches what is before the first input position, where pads are
// negative.
static inline int2 phase_taps(int padded, int stride) {
  return padded < 0 ? (int2)(0, -1) : (int2)(padded % stride, padded / stride);
}
#else
#define TAP_STEP(axis) 1
#define TAPS_BEFORE(kd, kh) \
  ((kd)*sizes.kernel_h * sizes.kernel_w + (kh)*sizes.kernel_w)
#define POSITION_STEP(axis) sizes.dilation_##axis
#define WINDOW(axis, output) \
  (int2)(0, (output)*sizes.stride_##axis - sizes.pad_##axis)
#endif
#define FOR_TAPS(axis, window, k, position)                              \
  for (int k = window.s0, position = window.s1; k < sizes.kernel_##axis; \
       k += TAP_STEP(axis), position += POSITION_STEP(axis))

__kernel void conv_sums(
    __global const TIM_STORAGE(IN0) * input, int input_offset,
    __global const TIM_STORAGE(IN1) * weights, int weights_offset,
    __global const int* channels, int channels_offset,
#ifdef BIAS
    __global const TIM_STORAGE(BIAS) * bias, int bias_offset,
#endif
#ifdef ADD
    __global const float* add, int add_offset,
#endif
    __global TIM_STORAGE(OUT) * output, int output_offset, float input_scale,
    int input_zero, float output_scale, float output_inverse, int output_zero,
    tim_result low, tim_result high, conv_sizes sizes) {
  const int cell = get_global_id(0);
  const int oc = get_global_id(1);
  const int n = get_global_id(2);
  const int cells = sizes.out_w * sizes.out_h * sizes.out_d;
  if (cell >= cells || oc >= sizes.out_channels || n >= sizes.batch) return;
  const tim_channel channel = tim_load_channel(channels + channels_offset, oc);
  const int row_of_cell = cell / sizes.out_w;
  const int2 columns = WINDOW(w, cell % sizes.out_w);
#ifdef DEPTH
  const int2 rows = WINDOW(h, row_of_cell % sizes.out_h);
  const int2 planes = WINDOW(d, row_of_cell / sizes.out_h);
#else
  const int2 rows = WINDOW(h, row_of_cell);
  const int2 planes = 0;
  sizes.in_d = sizes.kernel_d = sizes.stride_d = 1;
#endif
  const int first_channel =
      n * sizes.in_channels + oc / sizes.group_outputs * sizes.group_channels;
  const int taps = sizes.kernel_d * sizes.kernel_h * sizes.kernel_w;
  int weight = weights_offset + oc * sizes.group_channels * taps;

  tim_sum sum = 0;
  for (int ic = 0; ic < sizes.group_channels; ++ic, weight += taps) {
    FOR_TAPS(d, planes, kd, in_z) {
      if ((uint)in_z >= (uint)sizes.in_d) continue;
      const int plane = ((first_channel + ic) * sizes.in_d + in_z) * sizes.in_h;
      FOR_TAPS(h, rows, kh, in_y) {
        if (in_y < 0 || in_y >= sizes.in_h) continue;
        const int row = input_offset + (plane + in_y) * sizes.in_w;
        const int row_taps = weight + TAPS_BEFORE(kd, kh);
        FOR_TAPS(w, columns, kw, in_x) {
          if (in_x < 0 || in_x >= sizes.in_w) continue;
          sum = tim_add_product(
              sum, TIM_FACTOR(IN0, input, row + in_x, input_scale, input_zero),
              TIM_FACTOR(IN1, weights, row_taps + kw, channel.factor,
                         channel.weight_zero));
        }
      }
    }
  }
  TIM_STORE_SUM(sum, oc, channel,
                output_offset + (n * sizes.out_channels + oc) * cells + cell)
}
