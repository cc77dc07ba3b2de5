// Operators that only move or reduce codes of uint8.
#ifndef TIM_BENCH_OPERATORS_QUANTIZED_CASES_H_
#define TIM_BENCH_OPERATORS_QUANTIZED_CASES_H_

#include <vector>

#include "bench/operators/bandwidth_cases.h"

namespace tim::bench {

/// 16 MiB of codes, all tensors of another scale, in dense tensors (`_dense`)
/// and between pools, where channels lie in blocks (`_blocked`).
/// u8_add_: a residual sum.  u8_scale_: Multiply by one value per channel.
/// u8_relu6_, u8_hard_swish_, u8_sigmoid_, u8_convert_.
/// u8_concat_: of two halves of the channels.
/// u8_resize_nearest_, u8_resize_bilinear_: to twice the width and height.
/// u8_mean_: ReduceMean of images of 7x7.
/// u8_quantize_, u8_dequantize_: 16 MiB of float32 to codes and back.
/// u8_max_pool_: 3x3 by steps of 2.  u8_avg_pool_: 3x3 by steps of 1.
/// u8_global_avg_pool_: of 7x7.  u8_softmax_: of rows of 1024.
std::vector<BandwidthCase> QuantizedCases();

}  // namespace tim::bench

#endif  // TIM_BENCH_OPERATORS_QUANTIZED_CASES_H_
