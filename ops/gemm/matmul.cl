// out(n, m, batch) = sum over k of a(k, m, batch) * b(n, k, batch), any types;
// dense tensors, transposed or not by their strides (in elements).
// One work-item = one output element; dimension 0 = n, dimension 1 = m,
// dimension 2 = batch.  `batches` holds the first elements of a and b for each
// batch.  Options: kernels/product_sum.clh.

#include "kernels/product_sum.clh"
#include "ops/gemm/gemm_factor.clh"

__kernel void matmul(__global const TIM_STORAGE(IN0) * a, int a_offset,
                     __global const TIM_STORAGE(IN1) * b, int b_offset,
                     __global const int* channels, int channels_offset,
                     __global const int2* batches, int batches_offset,
#ifdef ADD
                     __global const float* add, int add_offset,
#endif
                     __global TIM_STORAGE(OUT) * output, int output_offset,
                     float a_scale, int a_zero, float output_scale,
                     float output_inverse, int output_zero, tim_result low,
                     tim_result high, gemm_factor a_source,
                     gemm_factor b_source, int depth, int batch_count) {
  const int rows = a_source.items;
  const int columns = b_source.items;
  const int n = get_global_id(0);
  const int m = get_global_id(1);
  const int batch = get_global_id(2);
  if (n >= columns || m >= rows || batch >= batch_count) return;
  const tim_channel channel = tim_load_channel(channels + channels_offset, 0);
  const int2 first = batches[batches_offset + batch];
  int x = a_offset + first.x + m * a_source.item_step;
  int y = b_offset + first.y + n * b_source.item_step;
  tim_sum sum = 0;
  for (int k = 0; k < depth;
       ++k, x += a_source.depth_step, y += b_source.depth_step) {
    sum = tim_add_product(
        sum, TIM_FACTOR(IN0, a, x, a_scale, a_zero),
        TIM_FACTOR(IN1, b, y, channel.factor, channel.weight_zero));
  }
  TIM_STORE_SUM(sum, n, channel,
                output_offset + (batch * rows + m) * columns + n)
}
