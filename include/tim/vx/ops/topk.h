// The greatest elements.
#ifndef TIM_VX_OPS_TOPK_H_
#define TIM_VX_OPS_TOPK_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// The k greatest elements along one axis in descending order, and their
/// indices.  Of equal elements the one with the smaller index comes first; NaN
/// is greater than every number.
///
/// Input 0: any rank >= 1, a float or integer type, quantized or not (codes are
/// compared).  Output 0: the elements, the input's shape with the extent k
/// along `axis`; any of these types, converted as DataConvert does.  Output 1:
/// the indices, same shape, an integer type.
/// - k: elements, from 1 to the extent of the axis.
/// - axis: in [-rank, rank), 0 = fastest-varying dimension.
/// Errors: Compile() fails where k or axis is outside of its range and on other
/// types.
/// Source: ONNX TopK-11 (largest 1, sorted 1), TFLite TOPK_V2.
class Topk : public BuiltinOpOf<Topk> {
 public:
  static const char* OpName() { return "Topk"; }
  explicit Topk(Graph* graph, uint32_t k, int32_t axis = 0)
      : BuiltinOpOf(graph, {{"k", k}, {"axis", axis}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_TOPK_H_
