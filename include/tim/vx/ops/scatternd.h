// ScatterND: slices added at coordinates.
#ifndef TIM_VX_OPS_SCATTERND_H_
#define TIM_VX_OPS_SCATTERND_H_

#include <cstdint>
#include <vector>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Slices added, in their order, to a tensor of zeros.
///
/// Input 0, the coordinates [q, N...]: integers (of float and quantized tensors
///        the real value towards zero counts).  Element 0 of a coordinate
///        counts along the slowest dimension of the output, element 1 along the
///        next.  [N] means N coordinates of one element.  A coordinate that is
///        not inside of the output is ignored.
/// Input 1, the updates: a slice shape[0 .. r - q) for each coordinate.
/// Output 0: `shape`, of rank r.  Every type but bool8 and uint64, in any
///        combination; sums are kept in float32 (of plain integers in 64 bits)
///        and rounded once.  Updates of one place are added in their order, so
///        that the bits are the same on every device.
/// - shape: extents of the output, 0 = fastest-varying dimension.
/// Errors: Compile() fails where q exceeds the rank, and where the updates do
/// not have as many elements as the slices.
/// Source: TFLite SCATTER_ND.
class ScatterND : public BuiltinOpOf<ScatterND> {
 public:
  static const char* OpName() { return "ScatterND"; }
  ScatterND(Graph* graph, const std::vector<uint32_t>& shape)
      : BuiltinOpOf(graph, {{"shape", shape}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_SCATTERND_H_
