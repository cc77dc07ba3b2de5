// Concatenation.
#ifndef TIM_VX_OPS_CONCAT_H_
#define TIM_VX_OPS_CONCAT_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Concatenates its inputs along one axis, in order.
///
/// Inputs 0 .. input_cnt - 1: any type; equal ranks and equal extents but along
/// `axis`.  Placeholders and inputs left out at the end are skipped.
/// Output 0: the sum of the extents along `axis`; an input of another
/// quantization is requantized to the output's.
/// - axis: 0 = fastest-varying dimension, negative ones count from the end.
/// - input_cnt: number of inputs.
/// Errors: Compile() fails where axis is outside of the rank, extents do not
/// fit, or more than input_cnt inputs are bound.
/// Source: ONNX Concat-13, TFLite CONCATENATION.
class Concat : public BuiltinOpOf<Concat> {
 public:
  static const char* OpName() { return "Concat"; }
  Concat(Graph* graph, uint32_t axis, int input_cnt)
      : BuiltinOpOf(graph, {{"axis", axis}, {"input_cnt", input_cnt}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_CONCAT_H_
