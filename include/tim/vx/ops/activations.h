// Unary element-wise operators.
#ifndef TIM_VX_OPS_ACTIVATIONS_H_
#define TIM_VX_OPS_ACTIVATIONS_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out = max(in, 0).
/// Input 0: any rank; FLOAT32, FLOAT16 or quantized.  Output 0: same shape;
/// quantized results are requantized to its scale and zero point.
/// Errors: Compile() fails on other types and on a declared output shape with
/// another number of elements.
/// Source: ONNX Relu, TFLite RELU.
class Relu : public BuiltinOpOf<Relu> {
 public:
  static const char* OpName() { return "Relu"; }
  explicit Relu(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// out = min(max(in, 0), 6).
/// Operands and errors as Relu.
/// Source: ONNX Clip(0, 6), TFLite RELU6.
class Relu6 : public BuiltinOpOf<Relu6> {
 public:
  static const char* OpName() { return "Relu6"; }
  explicit Relu6(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_ACTIVATIONS_H_
