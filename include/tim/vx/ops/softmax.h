// Softmax.
#ifndef TIM_VX_OPS_SOFTMAX_H_
#define TIM_VX_OPS_SOFTMAX_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Along one axis: out[i] = exp(beta * (in[i] - max)) /
/// sum over j of exp(beta * (in[j] - max)).
///
/// Input 0: any rank >= 1; FLOAT32, FLOAT16 or quantized.  Output 0: same
/// shape.
/// - beta: scale, unitless.
/// - axis: in [-rank, rank), 0 = fastest-varying dimension.
/// Errors: Compile() fails where axis is outside of the rank and on other
/// types.
/// Source: ONNX Softmax-13 (axis), TFLite SOFTMAX (beta).
class Softmax : public BuiltinOpOf<Softmax> {
 public:
  static const char* OpName() { return "Softmax"; }
  Softmax(Graph* graph, float beta, int32_t axis)
      : BuiltinOpOf(graph, {{"beta", beta}, {"axis", axis}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_SOFTMAX_H_
