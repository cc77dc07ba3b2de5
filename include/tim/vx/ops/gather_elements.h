// GatherElements: elements chosen by index.
#ifndef TIM_VX_OPS_GATHER_ELEMENTS_H_
#define TIM_VX_OPS_GATHER_ELEMENTS_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out(i) = input(i, with the coordinate along `axis` replaced by indices(i)).
///
/// Input 0: any type without per-channel quantization, rank >= 1.
/// Input 1, the indices, of the same rank: integers (of float and quantized
///        tensors the real value towards zero counts).  A negative index adds
///        the extent of the axis; what is outside even so becomes the nearest
///        one.
/// Output 0: the extents of the indices; an input of another quantization is
///        requantized to the output's.
/// - axis: 0 = fastest-varying dimension; negative ones count from the end.
///
/// Where the indices have smaller extents than the input below the axis, these
/// dimensions of both count as one, element k of the indices' meeting element k
/// of the input's; above the axis the same.
/// Errors: Compile() fails where axis is outside of the rank, where the ranks
/// differ, and where the indices have more elements than the input below or
/// above the axis.
/// Source: ONNX GatherElements-13.
class GatherElements : public BuiltinOpOf<GatherElements> {
 public:
  static const char* OpName() { return "GatherElements"; }
  GatherElements(Graph* graph, int axis)
      : BuiltinOpOf(graph, {{"axis", axis}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_GATHER_ELEMENTS_H_
