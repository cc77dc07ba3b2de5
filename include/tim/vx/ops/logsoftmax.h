// Logarithm of Softmax.
#ifndef TIM_VX_OPS_LOGSOFTMAX_H_
#define TIM_VX_OPS_LOGSOFTMAX_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Along one axis: out[i] = beta * (in[i] - max) -
/// ln(sum over j of exp(beta * (in[j] - max))).
///
/// Input 0: any rank >= 1; FLOAT32, FLOAT16 or integer.  Output 0: same shape.
/// - axis: in [-rank, rank), 0 = fastest-varying dimension.
/// - beta: scale, unitless.
/// Errors: Compile() fails where axis is outside of the rank and on other
/// types. Source: ONNX LogSoftmax-13, TFLite LOG_SOFTMAX.
class LogSoftmax : public BuiltinOpOf<LogSoftmax> {
 public:
  static const char* OpName() { return "LogSoftmax"; }
  LogSoftmax(Graph* graph, int32_t axis, float beta = 1.f)
      : BuiltinOpOf(graph, {{"axis", axis}, {"beta", beta}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_LOGSOFTMAX_H_
