// The slices of an axis.
#ifndef TIM_VX_OPS_UNSTACK_H_
#define TIM_VX_OPS_UNSTACK_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Cuts an axis into slices of extent 1, which lose it:
///   output i(..) = in(.., i, ..), i at position `axis`.
///
/// Input 0: any type.  Outputs 0 .. output_num - 1: the other extents; scalars
/// for an input of rank 1.  Another type or quantization converts.
/// - axis: 0 = fastest-varying dimension, negative ones count from the end.
/// - output_num: the extent along `axis`.
/// Errors: Compile() fails where output_num is not the extent, and where axis
/// is outside of the rank.
/// Source: TFLite UNPACK; ONNX Split-13 and Squeeze-13.
class Unstack : public BuiltinOpOf<Unstack> {
 public:
  static const char* OpName() { return "Unstack"; }
  Unstack(Graph* graph, int32_t axis, uint32_t output_num)
      : BuiltinOpOf(graph, {{"axis", axis}, {"output_num", output_num}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_UNSTACK_H_
