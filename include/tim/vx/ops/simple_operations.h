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

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_SIMPLE_OPERATIONS_H_
