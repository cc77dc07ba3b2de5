// Normalisation along one axis.
#ifndef TIM_VX_OPS_LAYERNORMALIZATION_H_
#define TIM_VX_OPS_LAYERNORMALIZATION_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// y = gamma * (x - mean) / sqrt(variance + eps) + beta, where mean and
/// (biased) variance are those of the elements of x's row along one axis.
///
/// Inputs, in this order: 0 the input, of any rank >= 1; FLOAT32, FLOAT16 or
/// integer; 1 beta; 2 gamma, FLOAT32 or FLOAT16.  Output 0: same shape.
/// A parameter of rank 1 that is as long as the axis lies along it; one of
/// another shape ([1, 1, D, 1]) is broadcast to the input, aligned at
/// dimension 0.  A row of equal elements gives exactly beta.
/// - axis: in [-rank, rank), 0 = fastest-varying dimension.
/// - eps: added to the variance, >= 0.
/// Errors: Compile() fails where axis is outside of the rank, where a parameter
/// has neither shape and on other types.
/// Source: ONNX LayerNormalization-17 with axis -1 (its other axes normalise
/// over several dimensions: reshape before), whose order of inputs is X, Scale,
/// B; no TFLite operator.
class LayerNormalization : public BuiltinOpOf<LayerNormalization> {
 public:
  static const char* OpName() { return "LayerNormalization"; }
  LayerNormalization(Graph* graph, int32_t axis, float eps = 1e-5f)
      : BuiltinOpOf(graph, {{"axis", axis}, {"eps", eps}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_LAYERNORMALIZATION_H_
