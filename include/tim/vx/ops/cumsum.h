// Cumulative sums.
#ifndef TIM_VX_OPS_CUMSUM_H_
#define TIM_VX_OPS_CUMSUM_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Along one axis: out[i] = sum of in[j] over j <= i.
///
/// Input 0: any rank >= 1, a float or integer type, quantized or not.
/// Output 0: same shape, any of these types.  Sums are exact for integers,
/// each rounded and saturated to the output once (sums of INT64 wrap); float
/// types are added in float32, one after the other.
/// - axis: in [-rank, rank), 0 = fastest-varying dimension.
/// - exclusive: not 0: over j < i, which begins with the real value 0.
/// - reverse: not 0: from the far end on, over j >= i (j > i).
/// Errors: Compile() fails where axis is outside of the rank and on other
/// types.
/// Source: ONNX CumSum-14, TFLite CUMSUM.
class CumSum : public BuiltinOpOf<CumSum> {
 public:
  static const char* OpName() { return "CumSum"; }
  explicit CumSum(Graph* graph, int32_t axis = 0, int32_t exclusive = 0,
                  int32_t reverse = 0)
      : BuiltinOpOf(
            graph,
            {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_CUMSUM_H_
