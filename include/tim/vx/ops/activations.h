// Activations.
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

/// out = in / (1 + e^-in), within 4 units in the last place of a FLOAT32
/// result; -0 where in is minus infinity.
/// Operands and errors as Relu; plain integers are rounded to nearest.
/// Source: ONNX Swish(1).
class Swish : public BuiltinOpOf<Swish> {
 public:
  static const char* OpName() { return "Swish"; }
  explicit Swish(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = in * tanh(ln(1 + e^in)), within 5 units in the last place of a FLOAT32
/// result; -0 where in is minus infinity.
/// Operands and errors as Relu; plain integers are rounded to nearest.
/// Source: ONNX Mish.
class Mish : public BuiltinOpOf<Mish> {
 public:
  static const char* OpName() { return "Mish"; }
  explicit Mish(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = ln(1 + e^in), within 3 units in the last place of a FLOAT32 result.
/// Operands and errors as Relu; plain integers are rounded to nearest.
/// Source: ONNX Softplus.
class SoftRelu : public BuiltinOpOf<SoftRelu> {
 public:
  static const char* OpName() { return "SoftRelu"; }
  explicit SoftRelu(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = 1 where in > 0, -1 where in < 0, else in: 0 or NaN.
/// Operands and errors as Relu.
/// Source: ONNX Sign, TFLite SIGN.
class Sign : public BuiltinOpOf<Sign> {
 public:
  static const char* OpName() { return "Sign"; }
  explicit Sign(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = in / (1 + |in|), within 2 units in the last place of a FLOAT32 result;
/// 1 and -1 where in is infinite.
/// Operands and errors as Relu; plain integers are rounded to nearest.
/// Source: ONNX Softsign.
class SoftSign : public BuiltinOpOf<SoftSign> {
 public:
  static const char* OpName() { return "SoftSign"; }
  explicit SoftSign(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = in >= 0 ? in : alpha * (e^in - 1), within 3 units in the last place of
/// a FLOAT32 result.
/// Operands and errors as Relu; plain integers are rounded to nearest.
/// - alpha: 1 where it is left out.
/// Errors: as Relu, and Compile() fails where it is NaN.
/// Source: ONNX Elu, TFLite ELU.
class Elu : public BuiltinOpOf<Elu> {
 public:
  static const char* OpName() { return "Elu"; }
  explicit Elu(Graph* graph) : BuiltinOpOf(graph, {}) {}
  Elu(Graph* graph, float alpha) : BuiltinOpOf(graph, {{"alpha", alpha}}) {}
};

/// out = min(max(alpha * in + beta, 0), 1), the sum rounded once.
/// Operands and errors as Relu; plain integers are rounded to nearest.
/// - alpha: slope.
/// - beta: value at 0.  ONNX and Keras have 0.2, 0.5.
/// Errors: as Relu, and Compile() fails where one of them is NaN.
/// Source: ONNX HardSigmoid.
class HardSigmoid : public BuiltinOpOf<HardSigmoid> {
 public:
  static const char* OpName() { return "HardSigmoid"; }
  HardSigmoid(Graph* graph, float alpha, float beta)
      : BuiltinOpOf(graph, {{"alpha", alpha}, {"beta", beta}}) {}
};

/// out = in >= 0 ? in : slope * in.
///
/// Input 0: any rank; a float or integer type.  Input 1, the slope: any of
/// these types; aligned with input 0 at dimension 0 and padded with 1, each
/// extent equal or 1.  A slope of rank 1 that is as long as input 0 is along
/// `axis`, and not along dimension 0, lies along that axis.
/// Output 0: the larger extents, any of these types.
/// Plain integers are exact and saturated; quantized results are requantized;
/// NaN stays NaN, in an integer output it is the code 0.
/// - axis: in [-rank, rank), 0 = fastest-varying dimension.
/// Errors: Compile() fails where the shapes do not broadcast or axis is out of
/// range, on other types, and on a declared output shape with another number of
/// elements.
/// Source: ONNX PRelu-16, TFLite PRELU.
class Prelu : public BuiltinOpOf<Prelu> {
 public:
  static const char* OpName() { return "Prelu"; }
  Prelu(Graph* graph, int axis) : BuiltinOpOf(graph, {{"axis", axis}}) {}
};

/// out = in > 0 ? in : alpha * in.
/// Operands and errors as Relu; plain integers are rounded to nearest.
/// - alpha: slope of what is negative.
/// Errors: as Relu, and Compile() fails where it is NaN.
/// Source: ONNX LeakyRelu, TFLite LEAKY_RELU.
class LeakyRelu : public BuiltinOpOf<LeakyRelu> {
 public:
  static const char* OpName() { return "LeakyRelu"; }
  LeakyRelu(Graph* graph, float alpha)
      : BuiltinOpOf(graph, {{"alpha", alpha}}) {}
};

/// out = a * in + b, rounded once.
/// Operands and errors as Relu; plain integers are rounded to nearest.
/// - a: slope.
/// - b: value at 0.
/// Errors: as Relu, and Compile() fails where one of them is NaN.
/// Source: ONNX Mul and Add.
class Linear : public BuiltinOpOf<Linear> {
 public:
  static const char* OpName() { return "Linear"; }
  Linear(Graph* graph, float a, float b = 0.0)
      : BuiltinOpOf(graph, {{"a", a}, {"b", b}}) {}
};

/// out = in * (1 + tanh(sqrt(2 / pi) * (in + 0.044715 * in^3))) / 2, within 5
/// units in the last place of a FLOAT32 result, where it is approximate; else
/// in * (1 + erf(in / sqrt(2))) / 2, within 7; -0 where in is minus infinity.
/// Operands and errors as Relu; plain integers are rounded to nearest.
/// - approximate: the form with tanh.
/// Source: ONNX Gelu, TFLite GELU.
class Gelu : public BuiltinOpOf<Gelu> {
 public:
  static const char* OpName() { return "Gelu"; }
  explicit Gelu(Graph* graph, bool approximate = true)
      : BuiltinOpOf(graph, {{"approximate", approximate}}) {}
};

/// out = in >= 0 ? gamma * in : gamma * alpha * (e^in - 1), within 4 units in
/// the last place of a FLOAT32 result.
/// Operands and errors as Relu; plain integers are rounded to nearest.
/// - alpha, gamma: factors, unitless.
/// Errors: as Relu, and Compile() fails where one of them is NaN.
/// Source: ONNX Selu, whose default constants have more digits.
class Selu : public BuiltinOpOf<Selu> {
 public:
  static const char* OpName() { return "Selu"; }
  explicit Selu(Graph* graph, float alpha = 1.67326f, float gamma = 1.0507f)
      : BuiltinOpOf(graph, {{"alpha", alpha}, {"gamma", gamma}}) {}
};

/// out = in >= 0 ? in : alpha * (e^(in / alpha) - 1), within 4 units in the
/// last place of a FLOAT32 result where alpha > 0.
/// Operands and errors as Relu; plain integers are rounded to nearest.
/// - alpha: what the result tends to, negated.
/// Errors: as Relu, and Compile() fails where it is NaN.
/// Source: ONNX Celu.
class Celu : public BuiltinOpOf<Celu> {
 public:
  static const char* OpName() { return "Celu"; }
  Celu(Graph* graph, float alpha) : BuiltinOpOf(graph, {{"alpha", alpha}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_ACTIVATIONS_H_
