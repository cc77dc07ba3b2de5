// Unary operators without parameters.
#ifndef TIM_VX_OPS_SIMPLE_OPERATIONS_H_
#define TIM_VX_OPS_SIMPLE_OPERATIONS_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out = in, converted to the output's type and quantization:
/// clamp(rint(real / scale + zero_point)), ties to even, where the output is
/// quantized.  Equal types and quantizations: a copy.
///
/// Input 0: any type and rank.  Output 0: same shape.
/// Errors: Compile() fails on a declared output shape with another number of
/// elements.
/// Source: ONNX QuantizeLinear, DequantizeLinear and Cast between float types;
/// TFLite QUANTIZE, DEQUANTIZE.
class DataConvert : public BuiltinOpOf<DataConvert> {
 public:
  static const char* OpName() { return "DataConvert"; }
  /// Whether Compile() may let the operators around a conversion between
  /// FLOAT32 and codes compute on the codes, in place of it: sums of products
  /// may then differ by one code.
  enum class Folding { NONE, ALLOWED };
  explicit DataConvert(Graph* graph, Folding folding = Folding::NONE)
      : BuiltinOpOf(graph, {{"foldable", folding == Folding::ALLOWED}}) {}
};

/// out = the number stored in `in`, in the output's type.  Unlike DataConvert
/// it ignores scales and zero points: the codes of quantized tensors are the
/// values, on both sides.
///
/// Input 0: a float or integer type or BOOL8, any rank.  Output 0: same shape,
/// any of these types.
/// Float to integer: truncated towards zero and saturated, NaN becomes 0.
/// Integer to integer: saturated.  To BOOL8: in != 0.  From BOOL8: 0 or 1.
/// Errors: Compile() fails on a declared output shape with another number of
/// elements.
/// Source: ONNX Cast-13, TFLite CAST.
class Cast : public BuiltinOpOf<Cast> {
 public:
  static const char* OpName() { return "Cast"; }
  explicit Cast(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = -in.
/// Input 0: any rank; a float or integer type.  Output 0: same shape, any of
/// these types; quantized results are requantized to its scale and zero point.
/// Integers without quantization are exact and saturated.  NaN stays NaN; in an
/// integer output it is the code 0.
/// Errors: Compile() fails on other types and on a declared output shape with
/// another number of elements.
/// Source: ONNX Neg, TFLite NEG.
class Neg : public BuiltinOpOf<Neg> {
 public:
  static const char* OpName() { return "Neg"; }
  explicit Neg(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = |in|.
/// Operands and errors as Neg.
/// Source: ONNX Abs, TFLite ABS.
class Abs : public BuiltinOpOf<Abs> {
 public:
  static const char* OpName() { return "Abs"; }
  explicit Abs(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = sin(in), in radians, within 2 units in the last place of a FLOAT32
/// result; NaN where in is infinite.
/// Operands and errors as Neg; plain integers are rounded to nearest.
/// Source: ONNX Sin, TFLite SIN.
class Sin : public BuiltinOpOf<Sin> {
 public:
  static const char* OpName() { return "Sin"; }
  explicit Sin(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = e^in, within 1 unit in the last place of a FLOAT32 result.
/// Operands and errors as Neg; plain integers are rounded to nearest.
/// Source: ONNX Exp, TFLite EXP.
class Exp : public BuiltinOpOf<Exp> {
 public:
  static const char* OpName() { return "Exp"; }
  explicit Exp(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = ln(in), within 2 units in the last place of a FLOAT32 result; NaN
/// where in < 0.
/// Operands and errors as Neg; plain integers are rounded to nearest.
/// Source: ONNX Log, TFLite LOG.
class Log : public BuiltinOpOf<Log> {
 public:
  static const char* OpName() { return "Log"; }
  explicit Log(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = sqrt(in), correctly rounded; NaN where in < 0.
/// Operands and errors as Neg; plain integers are rounded to nearest.
/// Source: ONNX Sqrt, TFLite SQRT.
class Sqrt : public BuiltinOpOf<Sqrt> {
 public:
  static const char* OpName() { return "Sqrt"; }
  explicit Sqrt(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = 1 / sqrt(in), within 2 units in the last place of a FLOAT32 result;
/// NaN where in < 0.
/// Operands and errors as Neg; plain integers are rounded to nearest.
/// Source: TFLite RSQRT.
class Rsqrt : public BuiltinOpOf<Rsqrt> {
 public:
  static const char* OpName() { return "Rsqrt"; }
  explicit Rsqrt(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = in * in.
/// Operands and errors as Neg.
/// Source: ONNX Mul, TFLite SQUARE.
class Square : public BuiltinOpOf<Square> {
 public:
  static const char* OpName() { return "Square"; }
  explicit Square(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = 1 where in is 0, else 0.
/// Input 0: BOOL8 or INT8 without quantization, any rank.  Output 0: same
/// shape, one of these types.
/// Errors: Compile() fails on other types and on a declared output shape with
/// another number of elements.
/// Source: ONNX Not, TFLite LOGICAL_NOT.
class LogicalNot : public BuiltinOpOf<LogicalNot> {
 public:
  static const char* OpName() { return "LogicalNot"; }
  explicit LogicalNot(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = the largest integer that is not above in.
/// Operands and errors as Neg.
/// Source: ONNX Floor, TFLite FLOOR.
class Floor : public BuiltinOpOf<Floor> {
 public:
  static const char* OpName() { return "Floor"; }
  explicit Floor(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = the smallest integer that is not below in.
/// Operands and errors as Neg.
/// Source: ONNX Ceil, TFLite CEIL.
class Ceil : public BuiltinOpOf<Ceil> {
 public:
  static const char* OpName() { return "Ceil"; }
  explicit Ceil(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = the nearest integer, the even one of two.
/// Operands and errors as Neg.
/// Source: ONNX Round, TFLite ROUND.
class Round : public BuiltinOpOf<Round> {
 public:
  static const char* OpName() { return "Round"; }
  explicit Round(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = 1 / in, correctly rounded; infinite where in is 0.
/// Operands and errors as Neg; plain integers are rounded to nearest.
/// Source: ONNX Reciprocal.
class Rcp : public BuiltinOpOf<Rcp> {
 public:
  static const char* OpName() { return "Rcp"; }
  explicit Rcp(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = cos(in), in radians, within 2 units in the last place of a FLOAT32
/// result; NaN where in is infinite.
/// Operands and errors as Neg; plain integers are rounded to nearest.
/// Source: ONNX Cos, TFLite COS.
class Cos : public BuiltinOpOf<Cos> {
 public:
  static const char* OpName() { return "Cos"; }
  explicit Cos(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = tan(in), in radians, within 4 units in the last place of a FLOAT32
/// result; NaN where in is infinite.
/// Operands and errors as Neg; plain integers are rounded to nearest.
/// Source: ONNX Tan.
class Tan : public BuiltinOpOf<Tan> {
 public:
  static const char* OpName() { return "Tan"; }
  explicit Tan(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = arctan(in), in radians, within 3 units in the last place of a FLOAT32
/// result.
/// Operands and errors as Neg; plain integers are rounded to nearest.
/// Source: ONNX Atan.
class ATan : public BuiltinOpOf<ATan> {
 public:
  static const char* OpName() { return "ATan"; }
  explicit ATan(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = artanh(in), within 3 units in the last place of a FLOAT32 result; NaN
/// where |in| > 1.
/// Operands and errors as Neg; plain integers are rounded to nearest.
/// Source: ONNX Atanh.
class ATanh : public BuiltinOpOf<ATanh> {
 public:
  static const char* OpName() { return "ATanh"; }
  explicit ATanh(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = arcosh(in), within 3 units in the last place of a FLOAT32 result; NaN
/// where in < 1.
/// Operands and errors as Neg; plain integers are rounded to nearest.
/// Source: ONNX Acosh.
class ACosh : public BuiltinOpOf<ACosh> {
 public:
  static const char* OpName() { return "ACosh"; }
  explicit ACosh(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_SIMPLE_OPERATIONS_H_
