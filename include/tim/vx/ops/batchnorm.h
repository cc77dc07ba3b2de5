// Normalisation by statistics that are given.
#ifndef TIM_VX_OPS_BATCHNORM_H_
#define TIM_VX_OPS_BATCHNORM_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// y = gamma * (x - mean) / sqrt(variance + eps) + beta, for every channel.
///
/// Inputs, in this order: 0 the input, of any rank >= 1; FLOAT32, FLOAT16 or
/// integer; 1 mean; 2 variance; 3 gamma; 4 beta, which are FLOAT32 or FLOAT16.
/// Output 0: same shape.
/// The channels are dimension 0 up to rank 2 ([C], [C, N]), else the last but
/// one ([W, C, N], [W, H, C, N], [W, H, D, C, N]).  A parameter of shape [C]
/// has one element for each of them; one of another shape is broadcast to the
/// input, aligned at dimension 0.
/// - eps: added to the variance, >= 0.
/// - input_layout: tim::transform::LayoutInference alone acts on it.
/// Errors: Compile() fails where a parameter has neither shape and on other
/// types.
/// Source: ONNX BatchNormalization-15 of inference, whose order of inputs is X,
/// scale, B, input_mean, input_var; TFLite folds it into weights.
class BatchNorm : public BuiltinOpOf<BatchNorm> {
 public:
  static const char* OpName() { return "BatchNorm"; }
  BatchNorm(Graph* graph, float eps, DataLayout input_layout = DataLayout::WHCN)
      : BuiltinOpOf(graph, {{"eps", eps}, {"input_layout", input_layout}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_BATCHNORM_H_
