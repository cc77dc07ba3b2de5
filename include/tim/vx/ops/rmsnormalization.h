// Normalisation by the root of the mean square along one axis.
#ifndef TIM_VX_OPS_RMSNORMALIZATION_H_
#define TIM_VX_OPS_RMSNORMALIZATION_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// y = x / sqrt(mean(x^2) + eps) * gamma, where the mean is that of the
/// elements of x's row along one axis.
///
/// Inputs: 0 the input, of any rank >= 1; FLOAT32, FLOAT16 or integer; 1 gamma,
/// FLOAT32 or FLOAT16, which may be left out.  Output 0: same shape.
/// A gamma of rank 1 that is as long as the axis lies along it; one of another
/// shape ([1, 1, D, 1]) is broadcast to the input, aligned at dimension 0.
/// - axis: in [-rank, rank), 0 = fastest-varying dimension.
/// - eps: added to the mean, >= 0.
/// Errors: Compile() fails where axis is outside of the rank, where gamma has
/// neither shape and on other types.
/// Source: SimplifiedLayerNormalization of ONNX Runtime with axis -1; no TFLite
/// operator.
class RmsNormalization : public BuiltinOpOf<RmsNormalization> {
 public:
  static const char* OpName() { return "RmsNormalization"; }
  RmsNormalization(Graph* graph, int32_t axis, float eps = 1e-5f)
      : BuiltinOpOf(graph, {{"axis", axis}, {"eps", eps}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_RMSNORMALIZATION_H_
