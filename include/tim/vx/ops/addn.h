// AddN: a sum of tensors.
#ifndef TIM_VX_OPS_ADDN_H_
#define TIM_VX_OPS_ADDN_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out = the sum of all inputs, from left to right.
///
/// Inputs 0 .. num_inputs - 1: a float or integer type each, quantized or not.
/// At least two; placeholders and inputs left out at the end are skipped.
/// Shapes are aligned at dimension 0 and padded with 1; each extent is equal or
/// 1.  Output 0: the largest extents, any of these types.
///
/// Where no operand is float or quantized the sum is exact in 64 bits, then
/// saturated to the output's type.  Else it is a sum in float32, rounded once
/// to the output; NaN becomes the code 0.  SetRoundingPolicy as for Add.
/// - num_inputs: >= 2.
/// Errors: Compile() fails where less than two or more than num_inputs inputs
/// are bound, where the shapes do not broadcast, on other types, and on a
/// declared output shape with another number of elements.
/// Source: ONNX Sum-13, TFLite ADD_N.
class AddN : public BuiltinOpOf<AddN> {
 public:
  static const char* OpName() { return "AddN"; }
  AddN(Graph* graph, uint32_t num_inputs)
      : BuiltinOpOf(graph, {{"num_inputs", num_inputs}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_ADDN_H_
