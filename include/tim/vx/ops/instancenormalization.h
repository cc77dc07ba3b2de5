// Normalisation of every image of every channel.
#ifndef TIM_VX_OPS_INSTANCENORMALIZATION_H_
#define TIM_VX_OPS_INSTANCENORMALIZATION_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// y = gamma * (x - mean) / sqrt(variance + eps) + beta, where mean and
/// (biased) variance are those of all elements of x's image: of one channel of
/// one batch.
///
/// Inputs, in this order: 0 the input, [W, C, N], [W, H, C, N] or more;
/// FLOAT32, FLOAT16 or integer; 1 beta; 2 gamma, FLOAT32 or FLOAT16, one
/// element for each channel.  Output 0: same shape. An image of equal elements
/// gives exactly beta.
/// - eps: added to the variance, >= 0.
/// - input_layout: tim::transform::LayoutInference alone acts on it.
/// Errors: Compile() fails on an input of a lower rank, on parameters of
/// another size and on other types. Source: ONNX InstanceNormalization-6, whose
/// order of inputs is input, scale, B; no TFLite operator.
class InstanceNormalization : public BuiltinOpOf<InstanceNormalization> {
 public:
  static const char* OpName() { return "InstanceNormalization"; }
  explicit InstanceNormalization(Graph* graph, float eps = 1e-5f,
                                 DataLayout input_layout = DataLayout::WHCN)
      : BuiltinOpOf(graph, {{"eps", eps}, {"input_layout", input_layout}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_INSTANCENORMALIZATION_H_
