// Convolutions as operations of the graph, for all nodes that are made of one.
#ifndef TIM_MODELS_ONNX_OPS_CONVOLUTIONS_CONVOLVE_H_
#define TIM_MODELS_ONNX_OPS_CONVOLUTIONS_CONVOLVE_H_

#include <cstdint>

#include "models/onnx/node.h"
#include "models/onnx/ops/convolutions/windows.h"

namespace tim::models::onnx {

/// Operands and windows of a convolution: x [N, C, spatial...], weights
/// [O, C / group, kernel...] and, where it is there, bias [O].
struct Convolution {
  Value x;
  Value weights;
  Value bias;
  int64_t group = 1;
  Windows windows;
};

/// The convolution that a node's attributes ask for; checks all extents.
Result<Convolution> ConvolutionOf(const Node& node, const Value& x,
                                  const Value& weights, const Value& bias);

/// The operation, whose result has this type and quantization.
Result<Value> Convolve(GraphBuilder* builder, const Convolution& convolution,
                       vx::DataType type,
                       const vx::Quantization& quantization = {});

/// Sums over windows of each channel: a convolution with ones.
Result<Value> WindowSums(GraphBuilder* builder, const Value& x,
                         const Windows& windows);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_CONVOLUTIONS_CONVOLVE_H_
