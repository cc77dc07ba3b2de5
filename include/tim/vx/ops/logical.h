// Logic of two inputs.
#ifndef TIM_VX_OPS_LOGICAL_H_
#define TIM_VX_OPS_LOGICAL_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out = a and b: 1 where both are not 0, else 0.
///
/// Inputs 0 (a) and 1 (b): BOOL8, or INT8 without quantization.  Shapes are
/// aligned at dimension 0 and padded with 1; each extent is equal or 1.
/// Output 0: the larger extents, of one of these types.
/// Errors: Compile() fails where the shapes do not broadcast, on other types,
/// and on a declared output shape with another number of elements.
/// Source: ONNX And-7, TFLite LOGICAL_AND.
class LogicalAnd : public BuiltinOpOf<LogicalAnd> {
 public:
  static const char* OpName() { return "LogicalAnd"; }
  explicit LogicalAnd(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = a or b: 1 where one of them is not 0, else 0.
/// Operands and errors as LogicalAnd.
/// Source: ONNX Or-7, TFLite LOGICAL_OR.
class LogicalOr : public BuiltinOpOf<LogicalOr> {
 public:
  static const char* OpName() { return "LogicalOr"; }
  explicit LogicalOr(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_LOGICAL_H_
