// GatherNd: slices chosen by coordinates.
#ifndef TIM_VX_OPS_GATHERND_H_
#define TIM_VX_OPS_GATHERND_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Slices of the input's slowest dimensions, each named by a coordinate.
///
/// Input 0: any type without per-channel quantization, rank r >= 1.
/// Input 1, the coordinates [q, ...]: integers (of float and quantized tensors
///        the real value towards zero counts).  Element 0 of a coordinate
///        selects along dimension r - q of the input, element q - 1 along the
///        slowest: ONNX and TFLite have them the other way round.  [N] means N
///        coordinates of one element.  A negative element adds the extent; what
///        is outside even so becomes the nearest one.
/// Output 0: extents input[0 .. r - q) + coordinates[1 .. end); an input of
///        another quantization is requantized to the output's.
/// Errors: Compile() fails where q exceeds the input's rank.
/// Source: ONNX GatherND-13, TFLite GATHER_ND.
class GatherNd : public BuiltinOpOf<GatherNd> {
 public:
  static const char* OpName() { return "GatherNd"; }
  explicit GatherNd(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_GATHERND_H_
