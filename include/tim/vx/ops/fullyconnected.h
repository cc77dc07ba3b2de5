// Fully connected layer.
#ifndef TIM_VX_OPS_FULLYCONNECTED_H_
#define TIM_VX_OPS_FULLYCONNECTED_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out(o, m) = bias(o) + sum over k of in(k, m) * weights(k, o).
///
/// Input 0: dimensions 0 .. axis are flattened to K, the rest to M.
/// Input 1, weights: [K, O]; of a higher rank the last dimension is O; it may
/// be an INPUT.  Input 2, bias, optional: [O], types as for Conv2d.
/// Output 0: [O, the input's dimensions after axis]; a declared shape needs
/// O * M elements.
/// Types: FLOAT32, FLOAT16, or quantized; weights may be quantized per channel
/// along O.
///
/// - axis: last of the flattened dimensions, 0 = fastest-varying, negative ones
///        count from the end.
/// - weights: for information; O is the weights' last extent.
/// Errors: Compile() fails where axis is outside of the rank, K or O do not
/// fit, and on other types.
/// Source: ONNX Gemm-13, TFLite FULLY_CONNECTED.
class FullyConnected : public BuiltinOpOf<FullyConnected> {
 public:
  static const char* OpName() { return "FullyConnected"; }
  FullyConnected(Graph* graph, uint32_t axis)
      : BuiltinOpOf(graph, {{"axis", axis}}) {}
  FullyConnected(Graph* graph, uint32_t axis, uint32_t weights)
      : BuiltinOpOf(graph, {{"axis", axis}, {"weights", weights}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_FULLYCONNECTED_H_
