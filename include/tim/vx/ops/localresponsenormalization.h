// Normalisation by neighbours along one axis.
#ifndef TIM_VX_OPS_LOCALRESPONSENORMALIZATION_H_
#define TIM_VX_OPS_LOCALRESPONSENORMALIZATION_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// y[i] = x[i] / (bias + alpha * sum of x[j]^2)^beta, j from i - floor(size /
/// 2) to i + floor(size / 2) along one axis, as far as there are such elements.
///
/// Input 0: any rank >= 1; FLOAT32, FLOAT16 or integer.  Output 0: same shape.
/// - size: of the window, >= 1; an even one has the elements of the next odd.
/// - alpha: is not divided by size.
/// - axis: in [-rank, rank), 0 = fastest-varying dimension.
/// Errors: Compile() fails where axis is outside of the rank, where size is 0
/// and on other types.
/// Source: TFLite LOCAL_RESPONSE_NORMALIZATION; ONNX LRN-13 with
/// alpha = ONNX's alpha / size.
class LocalResponseNormalization
    : public BuiltinOpOf<LocalResponseNormalization> {
 public:
  static const char* OpName() { return "LocalResponseNormalization"; }
  LocalResponseNormalization(Graph* graph, uint32_t size, float alpha,
                             float beta, float bias, int32_t axis)
      : BuiltinOpOf(graph, {{"size", size},
                            {"alpha", alpha},
                            {"beta", beta},
                            {"bias", bias},
                            {"axis", axis}}) {}
};

using LRN = LocalResponseNormalization;

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_LOCALRESPONSENORMALIZATION_H_
