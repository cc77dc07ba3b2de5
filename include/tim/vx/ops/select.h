// Select: elements of two tensors by a condition.
#ifndef TIM_VX_OPS_SELECT_H_
#define TIM_VX_OPS_SELECT_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out = condition ? x : y, element by element.
///
/// Input 0, the condition: BOOL8, or INT8 without quantization; not 0 is true.
/// Inputs 1 (x) and 2 (y): any type.  Shapes are aligned at dimension 0 and
/// padded with 1; each extent is equal or 1.
/// Output 0: the largest extents; an input of another type or quantization is
/// converted as DataConvert does, of the same one it is copied.
/// Errors: Compile() fails where the shapes do not broadcast, on other types of
/// the condition, and on a declared output shape with another number of
/// elements.
/// Source: ONNX Where-16, TFLite SELECT_V2.
class Select : public BuiltinOpOf<Select> {
 public:
  static const char* OpName() { return "Select"; }
  explicit Select(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_SELECT_H_
