// ScatterND_ONNX_V16: slices of a tensor replaced or changed at coordinates.
#ifndef TIM_VX_OPS_SCATTERND_ONNX_V16_H_
#define TIM_VX_OPS_SCATTERND_ONNX_V16_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// A copy of the data in which slices are replaced by updates or combined with
/// them, in their order.
///
/// Input 0, the data, rank r.
/// Input 1, the coordinates [q, N...]: integers (of float and quantized tensors
///        the real value towards zero counts).  Element 0 of a coordinate
///        counts along the slowest dimension of the data, element 1 along the
///        next.  [N] means N coordinates of one element.  A negative element
///        adds the extent; a coordinate that is outside even so is ignored.
/// Input 2, the updates: a slice data[0 .. r - q) for each coordinate.
/// Output 0: the extents of the data.
/// - reduction: REDUCTION_NONE replaces the slice (of several updates of one
///        place the last one stays), for every type; the others make old + new,
///        old * new, the larger or the smaller, of every type but bool8 and
///        uint64 in any combination, in float32 (plain integers in 64 bits,
///        saturated), rounded once.
/// Errors: Compile() fails where q exceeds the rank, and where the updates do
/// not have as many elements as the slices.
/// Source: ONNX ScatterND-16 (its max and min came with ScatterND-18).
class ScatterND_ONNX_V16 : public BuiltinOpOf<ScatterND_ONNX_V16> {
 public:
  enum ReductionType {
    REDUCTION_NONE,
    REDUCTION_ADD,
    REDUCTION_MUL,
    REDUCTION_MAX,
    REDUCTION_MIN
  };

  static const char* OpName() { return "ScatterND_ONNX_V16"; }
  ScatterND_ONNX_V16(Graph* graph,
                     ReductionType reduction = ReductionType::REDUCTION_NONE)
      : BuiltinOpOf(graph, {{"reduction", reduction}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_SCATTERND_ONNX_V16_H_
