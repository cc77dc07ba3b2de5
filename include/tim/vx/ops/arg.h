// Indices of extremes.
#ifndef TIM_VX_OPS_ARG_H_
#define TIM_VX_OPS_ARG_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// The index of the first greatest element along one axis.  NaN is greater than
/// nothing; where element 0 is NaN the index is 0.
///
/// Input 0: any rank >= 1, a float or integer type, quantized or not (codes are
/// compared).  Output 0: the input's shape without `axis`, [1] of rank 1; an
/// integer type, in which the index is stored as it is, whatever the
/// quantization, and saturated.
/// - axis: in [-rank, rank), 0 = fastest-varying dimension.
/// Errors: Compile() fails where axis is outside of the rank and on other
/// types.
/// Source: ONNX ArgMax-13 (keepdims 0, select_last_index 0), TFLite ARG_MAX.
class ArgMax : public BuiltinOpOf<ArgMax> {
 public:
  static const char* OpName() { return "ArgMax"; }
  ArgMax(Graph* graph, int32_t axis) : BuiltinOpOf(graph, {{"axis", axis}}) {}
};

/// The index of the first least element along one axis.  NaN is less than
/// nothing; where element 0 is NaN the index is 0.
/// Operands, parameters and errors as ArgMax.
/// Source: ONNX ArgMin-13 (keepdims 0, select_last_index 0), TFLite ARG_MIN.
class ArgMin : public BuiltinOpOf<ArgMin> {
 public:
  static const char* OpName() { return "ArgMin"; }
  ArgMin(Graph* graph, int32_t axis) : BuiltinOpOf(graph, {{"axis", axis}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_ARG_H_
