// Binary element-wise operators.
#ifndef TIM_VX_OPS_ELEMENTWISE_H_
#define TIM_VX_OPS_ELEMENTWISE_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out = a + b.
/// Inputs 0 (a) and 1 (b): FLOAT32, FLOAT16, INT32 or quantized.  Shapes are
/// aligned at dimension 0 and padded with 1; each extent is equal or 1.
/// Output 0: the larger extents.
/// Errors: Compile() fails where the shapes do not broadcast, on other types,
/// and on a declared output shape with another number of elements.
/// Source: ONNX Add-14, TFLite ADD.
class Add : public BuiltinOpOf<Add> {
 public:
  static const char* OpName() { return "Add"; }
  explicit Add(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_ELEMENTWISE_H_
