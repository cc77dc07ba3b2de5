// ConvTranspose as operations of the graph.
#ifndef TIM_MODELS_ONNX_OPS_CONVOLUTIONS_TRANSPOSED_CONVOLUTION_H_
#define TIM_MODELS_ONNX_OPS_CONVOLUTIONS_TRANSPOSED_CONVOLUTION_H_

#include <cstdint>

#include "models/onnx/node.h"

namespace tim::models::onnx {

/// x [N, C, spatial...], weights [C, O / group, kernel...], bias [O] or absent.
/// Along each spatial axis the result is the cells [before, before + output) of
/// those that all inputs reach, and the bias alone beyond them.
struct TransposedConvolution {
  Value x;
  Value weights;
  Value bias;
  int64_t group = 1;
  Dims strides;
  Dims dilations;
  Dims before;
  Dims output;

  size_t axes() const { return strides.size(); }
  /// Cells from the first to the last that one input reaches.
  int64_t Reach(size_t axis) const {
    return (weights.dims[axis + 2] - 1) * dilations[axis] + 1;
  }
  /// Cells that all inputs reach.
  int64_t Whole(size_t axis) const {
    return (x.dims[axis + 2] - 1) * strides[axis] + Reach(axis);
  }
};

Result<TransposedConvolution> TransposedConvolutionOf(const Node& node,
                                                      const Value& x,
                                                      const Value& weights,
                                                      const Value& bias);

Result<Value> ConvolveTransposed(GraphBuilder* builder,
                                 const TransposedConvolution& it);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_CONVOLUTIONS_TRANSPOSED_CONVOLUTION_H_
