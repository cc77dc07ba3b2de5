// Operators that are layers of networks.
#ifndef TIM_BENCH_OPERATORS_CASES_H_
#define TIM_BENCH_OPERATORS_CASES_H_

#include <string>
#include <vector>

#include "bench/networks/network.h"

namespace tim::bench {

/// What is timed: the layers of `network` that are of the kind `kind`, with
/// what is fused to them.
struct OperatorCase {
  std::string name;
  Network network;
  LayerKind kind = LayerKind::kConv2d;
  /// How often in a row, so that waiting does not count; every time with
  /// constants of its own, which are not in the caches then.
  int repeats = 1;
};

/// conv2d_3x3_64_56: 3x3, 64 to 64 channels, 56x56 pixels, Relu.
/// conv2d_resnet50_float32: all convolutions of ResNet-50 together.
/// matmul_768x1024x768: M x K x N, both operands inputs.
/// fully_connected_1024_1000_batch1: 1024 inputs, 1000 units, one row.
/// conv2d_depthwise_3x3_32_112: 3x3, 32 channels, 112x112 pixels.
/// max_pool_3x3_64_112: 3x3 by steps of 2, of what a convolution gives: 64
/// channels, 112x112 pixels.
std::vector<OperatorCase> OperatorCases();

/// Of all layers that are timed, once.
Work WorkOf(const OperatorCase& operator_case);

}  // namespace tim::bench

#endif  // TIM_BENCH_OPERATORS_CASES_H_
