// Comparisons.
#ifndef TIM_VX_OPS_RELATIONAL_OPERATIONS_H_
#define TIM_VX_OPS_RELATIONAL_OPERATIONS_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out = a > b: 1 or 0.
///
/// Inputs 0 (a) and 1 (b): a float or integer type each, quantized or not, or
/// BOOL8.  Shapes are aligned at dimension 0 and padded with 1; each extent is
/// equal or 1.  Output 0: the larger extents, BOOL8 (which it is where nothing
/// is declared) or INT8 without quantization.
///
/// Real values are compared, in float32; integers without quantization are
/// compared exactly.  Infinities are equal to themselves; NaN is in no order
/// and equal to nothing.
/// Errors: Compile() fails where the shapes do not broadcast, on other types,
/// and on a declared output shape with another number of elements.
/// Source: ONNX Greater-13, TFLite GREATER.
class Greater : public BuiltinOpOf<Greater> {
 public:
  static const char* OpName() { return "Greater"; }
  explicit Greater(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = a >= b: 1 or 0.
/// Operands and errors as Greater.
/// Source: ONNX GreaterOrEqual-16, TFLite GREATER_EQUAL.
class GreaterOrEqual : public BuiltinOpOf<GreaterOrEqual> {
 public:
  static const char* OpName() { return "GreaterOrEqual"; }
  explicit GreaterOrEqual(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = a < b: 1 or 0.
/// Operands and errors as Greater.
/// Source: ONNX Less-13, TFLite LESS.
class Less : public BuiltinOpOf<Less> {
 public:
  static const char* OpName() { return "Less"; }
  explicit Less(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = a <= b: 1 or 0.
/// Operands and errors as Greater.
/// Source: ONNX LessOrEqual-16, TFLite LESS_EQUAL.
class LessOrEqual : public BuiltinOpOf<LessOrEqual> {
 public:
  static const char* OpName() { return "LessOrEqual"; }
  explicit LessOrEqual(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = a != b: 1 or 0.
/// Operands and errors as Greater.
/// Source: ONNX Not of Equal, TFLite NOT_EQUAL.
class NotEqual : public BuiltinOpOf<NotEqual> {
 public:
  static const char* OpName() { return "NotEqual"; }
  explicit NotEqual(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = a == b: 1 or 0.
/// Operands and errors as Greater.
/// Source: ONNX Equal-13, TFLite EQUAL.
class Equal : public BuiltinOpOf<Equal> {
 public:
  static const char* OpName() { return "Equal"; }
  explicit Equal(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_RELATIONAL_OPERATIONS_H_
