// Consecutive parts of a tensor.
#ifndef TIM_VX_OPS_SPLIT_H_
#define TIM_VX_OPS_SPLIT_H_

#include <cstdint>
#include <vector>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Cuts an axis into consecutive parts.
///
/// Input 0: any type.  Output i: the input's extents, slices[i] along `axis`;
/// another type or quantization converts.  There is one output per slice.
/// - axis: 0 = fastest-varying dimension, negative ones count from the end.
/// - slices: extents of the parts, which add up to the input's.
/// Errors: Compile() fails where they do not, and where axis is outside of the
/// rank.
/// Source: ONNX Split-13, TFLite SPLIT_V.
class Split : public BuiltinOpOf<Split> {
 public:
  static const char* OpName() { return "Split"; }
  Split(Graph* graph, uint32_t axis, std::vector<uint32_t> slices)
      : BuiltinOpOf(graph, {{"axis", axis}, {"slices", slices}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_SPLIT_H_
