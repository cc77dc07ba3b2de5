// Float32 convolution of dense tensors with any groups, of three dimensions or,
// one cell deep, of two; formula of conv_sums.cl, summed by multiply_add in the
// order (ic, kd, kh, kw).
// Dense tensors [W, H, D, C, N]; weights packed [BLOCKS * 16 oc, Kw, Kh, Kd,
// Ic of a group, tiles of oc], zero where there is no channel.
// One work-item = a tile of TW neighbouring cells of a row and BLOCKS * 16
// output channels of one group; dimension 0 = tile of the row + tiles of a row
// * (y + out_h * z), dimension 1 = tile of channels, dimension 2 = batch.
//
// -DTW=14       cells; out_w >= TW
// -DBLOCKS=2    1 to 3 blocks of 16 output channels
// -DSTRIDE=1    stride along W
// -DSPAN=16     cells copied from each input row, at least
//               (TW - 1) * STRIDE + (kernel_w - 1) * dilation_w + 1
// -DBIAS, -DADD a float per output channel that is added
// -DRESIDUAL    a tensor of the output's shape that is added
// -DACTIVATE    kernels/activate.clh

#ifndef TW
#define TW 14
#endif
#ifndef BLOCKS
#define BLOCKS 2
#endif
#ifndef STRIDE
#define STRIDE 1
#endif
#ifndef SPAN
#define SPAN 16
#endif

#include "kernels/activate.clh"
#include "ops/convolution/channel_sums.clh"
#include "ops/convolution/conv_sizes.clh"
#include "ops/launch/epilogue.clh"
#include "ops/launch/epilogue_parameters.clh"

#define CELL(i) cell[(i)*STRIDE]

__kernel void conv3d_tile(__global const float* input, int input_offset,
                          __global const float* weights, int weights_offset,
                          TIM_EPILOGUE_PARAMETERS, conv_sizes sizes,
                          int tiles) {
  const int row_tiles = (sizes.out_w + TW - 1) / TW;
  const int row = get_global_id(0) / row_tiles;
  const int tile = get_global_id(1);
  const int n = get_global_id(2);
  const int rows = sizes.out_h * sizes.out_d;
  if (row >= rows || tile >= tiles || n >= sizes.batch) return;
  // The last tile moves back into the row and stores its own cells only.
  const int first_new = get_global_id(0) % row_tiles * TW;
  const int x0 = min(first_new, sizes.out_w - TW);
  const int left = x0 * STRIDE - sizes.pad_w;
  const int top = row % sizes.out_h * sizes.stride_h - sizes.pad_h;
  const int front = row / sizes.out_h * sizes.stride_d - sizes.pad_d;
  const int first = max(0, -left);
  const int last = min(SPAN, sizes.in_w - left);
  const int taps = sizes.kernel_d * sizes.kernel_h * sizes.kernel_w;
  __global const float* weight =
      weights + weights_offset +
      tile * sizes.group_channels * taps * BLOCKS * 16;
  const int group_tiles =
      (sizes.group_outputs + BLOCKS * 16 - 1) / (BLOCKS * 16);
  const int group = tile / group_tiles;
  const int first_own = tile % group_tiles * BLOCKS * 16;
  input +=
      input_offset + (n * sizes.in_channels + group * sizes.group_channels) *
                         sizes.in_d * sizes.in_h * sizes.in_w;

  float16 sum[BLOCKS][TW];
  EACH_SUM(b, i, TW) sum[b][i] = 0.0f;
  float cells[SPAN];
  for (int i = 0; i < SPAN; ++i) cells[i] = 0.0f;
  for (int ic = 0; ic < sizes.group_channels; ++ic) {
    for (int kd = 0; kd < sizes.kernel_d; ++kd) {
      const int in_z = front + kd * sizes.dilation_d;
      for (int kh = 0; kh < sizes.kernel_h; ++kh) {
        const int in_y = top + kh * sizes.dilation_h;
        if (in_z < 0 || in_z >= sizes.in_d || in_y < 0 || in_y >= sizes.in_h) {
          weight += sizes.kernel_w * BLOCKS * 16;
          continue;
        }
        // Cells outside of the row stay 0.
        __global const float* from =
            input +
            ((ic * sizes.in_d + in_z) * sizes.in_h + in_y) * sizes.in_w + left;
        for (int i = first; i < last; ++i) cells[i] = from[i];
        for (int kw = 0; kw < sizes.kernel_w; ++kw, weight += BLOCKS * 16) {
          const float* cell = cells + kw * sizes.dilation_w;
          ADD_CHANNEL(sum, TW, weight, CELL)
        }
      }
    }
  }
  float sums[BLOCKS * TW * 16];
  EACH_SUM(b, i, TW) TIM_VSTORE16_PRIVATE(sum[b][i], b * TW + i, sums, float);
  const int count = min(BLOCKS * 16, sizes.group_outputs - first_own);
  for (int c = 0; c < count; ++c) {
    const int oc = group * sizes.group_outputs + first_own + c;
    const float more = LOAD_BIAS(oc) + LOAD_ADD(oc);
    const int place =
        ((n * sizes.out_channels + oc) * rows + row) * sizes.out_w + x0;
    for (int i = first_new - x0; i < TW; ++i) {
      const float result = sums[(c / 16 * TW + i) * 16 + c % 16] + more +
                           LOAD_RESIDUAL(place + i);
      output[output_offset + place + i] =
          TIM_ACTIVATE(float, result, low, high);
    }
  }
}
