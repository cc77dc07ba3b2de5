// Elements in reverse order.
#ifndef TIM_VX_OPS_REVERSE_H_
#define TIM_VX_OPS_REVERSE_H_

#include <cstdint>
#include <vector>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Reverses the order of the elements along axes.
///
/// Input 0: any type and rank.  Output 0: the same shape; another type or
/// quantization converts.
/// - axis: axes, 0 = fastest-varying dimension, negative ones count from the
///        end; one that is listed twice is reversed once.
/// Errors: Compile() fails where an axis is outside of the rank.
/// Source: TFLite REVERSE_V2; ONNX Slice-13 with steps of -1.
class Reverse : public BuiltinOpOf<Reverse> {
 public:
  static const char* OpName() { return "Reverse"; }
  Reverse(Graph* graph, const std::vector<int32_t>& axis)
      : BuiltinOpOf(graph, {{"axis", axis}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_REVERSE_H_
