// The error function.
#ifndef TIM_VX_OPS_ERF_H_
#define TIM_VX_OPS_ERF_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out = erf(in), within 2 units in the last place of a FLOAT32 result.
/// Input 0: any rank; a float or integer type.  Output 0: same shape, any of
/// these types; quantized results are requantized to its scale and zero point.
/// Plain integers are rounded to nearest.  NaN stays NaN; in an integer output
/// it is the code 0.
/// Errors: Compile() fails on other types and on a declared output shape with
/// another number of elements.
/// Source: ONNX Erf.
class Erf : public BuiltinOpOf<Erf> {
 public:
  static const char* OpName() { return "Erf"; }
  explicit Erf(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_ERF_H_
