// Sums of products of 8-bit codes.
#ifndef TIM_BENCH_OPERATORS_BYTE_CASES_H_
#define TIM_BENCH_OPERATORS_BYTE_CASES_H_

#include <functional>
#include <string>
#include <vector>

#include "tim/vx/graph.h"

namespace tim::bench {

/// Operations between INPUT and OUTPUT tensors of codes, with constant weights
/// and a bias of int32.
struct ByteCase {
  std::string name;
  std::string operation;  ///< As the class of tim::vx::ops is called.
  double operations = 0;  ///< 2 per product.
  double bytes = 0;       ///< Inputs and weights read, results written.
  int repeats = 1;        ///< As in OperatorCase.
  std::function<void(vx::Graph& graph)> build;
};

/// The layers of OperatorCases() with products, twice: `_int8` with weights per
/// channel, `_uint8` with asymmetric ones, as clients of NPUs have them.
/// conv2d_3x3_64_56, conv2d_1x1_256_64_56 (256 to 64 channels),
/// conv2d_depthwise_3x3_32_112, fully_connected_1024_1000_batch1 (and
/// _batch64); deconv2d_4x4_64_56 (stride 2); conv2d_resnet50: all convolutions
/// of ResNet-50.
std::vector<ByteCase> ByteCases();

}  // namespace tim::bench

#endif  // TIM_BENCH_OPERATORS_BYTE_CASES_H_
