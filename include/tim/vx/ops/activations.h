// Unary element-wise operators.
#ifndef TIM_VX_OPS_ACTIVATIONS_H_
#define TIM_VX_OPS_ACTIVATIONS_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out = max(in, 0).
/// Input 0: any rank; a float or integer type.  Output 0: same shape, any of
/// these types; quantized results are requantized to its scale and zero point.
/// NaN stays NaN; in an integer output it is the code 0.
/// Errors: Compile() fails on other types and on a declared output shape with
/// another number of elements.
/// Source: ONNX Relu, TFLite RELU.
class Relu : public BuiltinOpOf<Relu> {
 public:
  static const char* OpName() { return "Relu"; }
  explicit Relu(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = min(max(in, -1), 1).
/// Operands and errors as Relu.
/// Source: ONNX Clip(-1, 1), TFLite RELU_N1_TO_1.
class Relu1 : public BuiltinOpOf<Relu1> {
 public:
  static const char* OpName() { return "Relu1"; }
  explicit Relu1(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = min(max(in, 0), 6).
/// Operands and errors as Relu.
/// Source: ONNX Clip(0, 6), TFLite RELU6.
class Relu6 : public BuiltinOpOf<Relu6> {
 public:
  static const char* OpName() { return "Relu6"; }
  explicit Relu6(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = tanh(in), within 3 units in the last place of a FLOAT32 result.
/// Operands and errors as Relu; plain integers are rounded to nearest.
/// Source: ONNX Tanh, TFLite TANH.
class Tanh : public BuiltinOpOf<Tanh> {
 public:
  static const char* OpName() { return "Tanh"; }
  explicit Tanh(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = 1 / (1 + e^-in), within 3 units in the last place of a FLOAT32 result.
/// Operands and errors as Relu; plain integers are rounded to nearest.
/// Source: ONNX Sigmoid, TFLite LOGISTIC.
class Sigmoid : public BuiltinOpOf<Sigmoid> {
 public:
  static const char* OpName() { return "Sigmoid"; }
  explicit Sigmoid(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = in * min(max(in + 3, 0), 6) / 6, within 3 units in the last place of a
/// FLOAT32 result; in where it is infinite, 0 where it is minus infinity.
/// Operands and errors as Relu; plain integers are rounded to nearest.
/// Source: ONNX HardSwish, TFLite HARD_SWISH.
class HardSwish : public BuiltinOpOf<HardSwish> {
 public:
  static const char* OpName() { return "HardSwish"; }
  explicit HardSwish(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_ACTIVATIONS_H_
