// Dropout as it is in inference.
#ifndef TIM_VX_OPS_DROPOUT_H_
#define TIM_VX_OPS_DROPOUT_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out = ratio * in; nothing is dropped.
/// Input 0: any rank; a float or integer type.  Output 0: same shape, any of
/// these types; quantized results are requantized to its scale and zero point.
/// Plain integers are rounded to nearest.  NaN stays NaN; in an integer output
/// it is the code 0.
/// - ratio: a factor, no probability: 1 leaves the input as it is.
/// Errors: Compile() fails on other types, on a declared output shape with
/// another number of elements and where a parameter is NaN.
/// Source: ONNX Dropout.
class Dropout : public BuiltinOpOf<Dropout> {
 public:
  static const char* OpName() { return "Dropout"; }
  Dropout(Graph* graph, float ratio) : BuiltinOpOf(graph, {{"ratio", ratio}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_DROPOUT_H_
