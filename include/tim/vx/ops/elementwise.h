// Binary element-wise operators.
#ifndef TIM_VX_OPS_ELEMENTWISE_H_
#define TIM_VX_OPS_ELEMENTWISE_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out = a + b.
///
/// Inputs 0 (a) and 1 (b): a float or integer type each, quantized or not.
/// Shapes are aligned at dimension 0 and padded with 1; each extent is equal or
/// 1.  Output 0: the larger extents, any of these types.
///
/// Where no operand is float or quantized the result is exact in 64 bits, then
/// saturated to the output's type.  Else it is computed in float32 and rounded
/// to nearest even; NaN becomes the code 0.  SetRoundingPolicy can ask for WRAP
/// instead of saturation and for rounding TO_ZERO.
/// Errors: Compile() fails where the shapes do not broadcast, on other types,
/// and on a declared output shape with another number of elements.
/// Source: ONNX Add-14, TFLite ADD.
class Add : public BuiltinOpOf<Add> {
 public:
  static const char* OpName() { return "Add"; }
  explicit Add(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = a - b.
/// Operands, policies and errors as Add.
/// Source: ONNX Sub-14, TFLite SUB.
class Sub : public BuiltinOpOf<Sub> {
 public:
  static const char* OpName() { return "Sub"; }
  explicit Sub(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = a to the power of b, within 1 unit in the last place of a FLOAT32
/// result.
/// Operands, policies and errors as Add.  Special cases are those of C's pow:
/// x^0 and 1^y are 1, whatever the other is; a negative number to a power that
/// is no integer is NaN; 0 to a negative one is infinite.  Plain integers are
/// exact: with a negative exponent rounded to nearest even, so that 2^-1 is 0,
/// and 0^-1 is the limit of the output's type.
/// Source: ONNX Pow-13, TFLite POW.
class Pow : public BuiltinOpOf<Pow> {
 public:
  static const char* OpName() { return "Pow"; }
  explicit Pow(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = floor(a / b), of the quotient rounded to FLOAT32.
/// Operands, policies and errors as Add; division by 0 as in Div.  Of operands
/// quantized with one scale the floor is exact, as that of plain integers is.
/// Source: TFLite FLOOR_DIV.
class FloorDiv : public BuiltinOpOf<FloorDiv> {
 public:
  static const char* OpName() { return "FloorDiv"; }
  explicit FloorDiv(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = a * b * scale.
/// Operands, policies and errors as Add.
/// - scale: unitless, of the real result before it is rounded to the
///        output.  With another scale than 1, plain integers are multiplied in
///        float32 and rounded, too.
/// Errors: Compile() also fails where the scale is infinite or NaN.
/// Source: ONNX Mul-14, TFLite MUL.
class Multiply : public BuiltinOpOf<Multiply> {
 public:
  static const char* OpName() { return "Multiply"; }
  explicit Multiply(Graph* graph, float scale = 1.0f)
      : BuiltinOpOf(graph, {{"scale", scale}}) {}
};

/// out = a / b * scale.
/// Operands, policies and errors as Add.  x / 0 is infinite with the sign of x
/// (and of the zero), which saturates in codes; 0 / 0 is NaN.  The quotient of
/// plain integers is truncated towards zero; x / 0 is then the limit of the
/// output's type on x's side (with WRAP the low bits of the 64-bit limit), and
/// 0 / 0 is 0.
/// - scale: as in Multiply.
/// Errors: Compile() also fails where the scale is infinite or NaN.
/// Source: ONNX Div-14, TFLite DIV.
class Div : public BuiltinOpOf<Div> {
 public:
  static const char* OpName() { return "Div"; }
  explicit Div(Graph* graph, float scale = 1.0f)
      : BuiltinOpOf(graph, {{"scale", scale}}) {}
};

/// out = the smaller of a and b; NaN where one of them is NaN.
/// Operands, policies and errors as Add.
/// Source: ONNX Min-13 of two inputs, TFLite MINIMUM.
class Minimum : public BuiltinOpOf<Minimum> {
 public:
  static const char* OpName() { return "Minimum"; }
  explicit Minimum(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = the larger of a and b; NaN where one of them is NaN.
/// Operands, policies and errors as Add.
/// Source: ONNX Max-13 of two inputs, TFLite MAXIMUM.
class Maximum : public BuiltinOpOf<Maximum> {
 public:
  static const char* OpName() { return "Maximum"; }
  explicit Maximum(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_ELEMENTWISE_H_
