// Division by the length of a vector.
#ifndef TIM_VX_OPS_L2NORMALIZATION_H_
#define TIM_VX_OPS_L2NORMALIZATION_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Along one axis: y[i] = x[i] / sqrt(max(sum over j of x[j]^2, 1e-12)), so
/// that vectors of zeros stay zeros.
///
/// Input 0: any rank >= 1; FLOAT32, FLOAT16 or integer.  Output 0: same shape.
/// - axis: in [-rank, rank), 0 = fastest-varying dimension.
/// Errors: Compile() fails where axis is outside of the rank and on other
/// types. Source: ONNX LpNormalization-1 with p = 2, TFLite L2_NORMALIZATION.
class L2Normalization : public BuiltinOpOf<L2Normalization> {
 public:
  static const char* OpName() { return "L2Normalization"; }
  L2Normalization(Graph* graph, int32_t axis)
      : BuiltinOpOf(graph, {{"axis", axis}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_L2NORMALIZATION_H_
