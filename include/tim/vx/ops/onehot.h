// OneHot: indices as vectors with one element on.
#ifndef TIM_VX_OPS_ONEHOT_H_
#define TIM_VX_OPS_ONEHOT_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out(i < axis, d, i >= axis) = indices(i) == d ? on_value : off_value.
///
/// Input 0, the indices: integers (of float and quantized tensors the real
///        value towards zero counts), rank >= 1.  A negative index and one that
///        is not below `depth` turn nothing on.
/// Output 0: float types, integers or bool8; one dimension of extent `depth`
///        more, inserted at `axis`.
/// - depth: >= 1.
/// - on_value, off_value: real values, quantized where the output is.
/// - axis: of the new dimension, 0 = fastest-varying; -1 means 0 (the last axis
///        of ONNX and TFLite).
/// Errors: Compile() fails where depth is less than 1, or where axis is outside
/// of the output's rank.
/// Source: ONNX OneHot-11, TFLite ONE_HOT.
class OneHot : public BuiltinOpOf<OneHot> {
 public:
  static const char* OpName() { return "OneHot"; }
  OneHot(Graph* graph, int32_t depth, float on_value = 1, float off_value = 0,
         int32_t axis = 0)
      : BuiltinOpOf(graph, {{"depth", depth},
                            {"on_value", on_value},
                            {"off_value", off_value},
                            {"axis", axis}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_ONEHOT_H_
