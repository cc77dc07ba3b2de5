// Groups of channels interleaved.
#ifndef TIM_VX_OPS_SHUFFLE_CHANNEL_H_
#define TIM_VX_OPS_SHUFFLE_CHANNEL_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Interleaves groups of an axis: with G = num_groups and S = extent / G
///   out[k * G + g] = in[g * S + k].
///
/// Input 0: any type and rank.  Output 0: the same shape; another type or
/// quantization converts.
/// - num_groups: divides the extent.
/// - index_axis: 0 = fastest-varying dimension, negative ones count from the
///        end.
/// Errors: Compile() fails where num_groups does not divide the extent and
/// where the axis is outside of the rank.
/// Source: NNAPI CHANNEL_SHUFFLE; ONNX and TFLite: Reshape, Transpose, Reshape.
class ShuffleChannel : public BuiltinOpOf<ShuffleChannel> {
 public:
  static const char* OpName() { return "ShuffleChannel"; }
  explicit ShuffleChannel(Graph* graph, int32_t num_groups, int32_t index_axis)
      : BuiltinOpOf(graph,
                    {{"num_groups", num_groups}, {"index_axis", index_axis}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_SHUFFLE_CHANNEL_H_
