// Tensors along a new axis.
#ifndef TIM_VX_OPS_STACK_H_
#define TIM_VX_OPS_STACK_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Joins tensors of one shape along a new dimension:
///   out(.., i, ..) = input i(..), i at position `axis`.
///
/// Inputs 0 .. input_cnt - 1: any type, the same shape.  Output 0: their shape
/// with input_cnt at `axis`; scalars give {input_cnt}.  An input of another
/// type or quantization converts.
/// - axis: 0 = the new dimension is the fastest-varying one, the inputs' rank =
///        the slowest; negative ones count from the output's end.
/// - input_cnt: number of inputs.
/// Errors: Compile() fails where shapes differ, where axis is beyond the rank,
/// and where other than input_cnt inputs are bound.
/// Source: ONNX ConcatFromSequence-11 (new_axis = 1), TFLite PACK.
class Stack : public BuiltinOpOf<Stack> {
 public:
  static const char* OpName() { return "Stack"; }
  Stack(Graph* graph, uint32_t axis, int input_cnt)
      : BuiltinOpOf(graph, {{"axis", axis}, {"input_cnt", input_cnt}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_STACK_H_
