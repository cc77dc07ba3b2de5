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
  explicit DataConvert(Graph* graph) : BuiltinOpOf(graph, {}) {}
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

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_SIMPLE_OPERATIONS_H_
