// Normalisations that nodes of several domains are.
#ifndef TIM_MODELS_ONNX_OPS_NORMALIZATIONS_NORMALIZE_H_
#define TIM_MODELS_ONNX_OPS_NORMALIZATIONS_NORMALIZE_H_

#include "models/onnx/node.h"

namespace tim::models::onnx {

struct LayerNormalized {
  Value y;
  Value mean;     ///< Where it was asked for, as the next.
  Value inverse;  ///< 1 / sqrt(variance + epsilon)
};
enum class Statistics { kNone, kWanted };

/// Over the axes from `axis` on: (x - mean) / sqrt(variance + epsilon) * scale
/// + bias; `bias` may be absent.  Statistics are float32 and keep their axes.
Result<LayerNormalized> NormalizeLayer(GraphBuilder* builder, const Value& x,
                                       const Value& scale, const Value& bias,
                                       int axis, float epsilon,
                                       Statistics statistics);

/// Over the axes from `axis` on: x / sqrt(mean of x^2 + epsilon) * scale.
Result<Value> NormalizeByRms(GraphBuilder* builder, const Value& x,
                             const Value& scale, int axis, float epsilon);

/// Reduces the axes, in the model's order, which stay with extents of 1.
template <typename Reduction>
Result<Value> Reduced(GraphBuilder* builder, const Value& x,
                      const std::vector<int>& axes) {
  std::vector<int32_t> graph_axes;
  Dims dims = x.dims;
  for (const int axis : axes) {
    graph_axes.push_back(GraphAxis(axis, x.rank()));
    dims[axis] = 1;
  }
  return builder->Add<Reduction>({x}, Wanted::Of(x.type, dims), graph_axes,
                                 true);
}
/// Mean and variance over the axes, which stay with extents of 1.
Result<std::vector<Value>> MomentsOf(GraphBuilder* builder, const Value& x,
                                     const std::vector<int>& axes,
                                     vx::DataType type);

/// Softmax, or its logarithm, along one axis.
enum class SoftmaxKind { kSoftmax, kLogSoftmax };
Result<Value> SoftmaxAlong(GraphBuilder* builder, const Value& x, int axis,
                           SoftmaxKind kind = SoftmaxKind::kSoftmax);

void AddLayerNormalizations(OperatorTable* table);
void AddChannelNormalizations(OperatorTable* table);
void AddSoftmaxes(OperatorTable* table);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_NORMALIZATIONS_NORMALIZE_H_
