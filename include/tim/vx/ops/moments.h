// Mean and variance.
#ifndef TIM_VX_OPS_MOMENTS_H_
#define TIM_VX_OPS_MOMENTS_H_

#include <cstdint>
#include <vector>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// mean = sum of x / n, variance = sum of (x - mean)^2 / n over the n elements
/// along the axes.
///
/// Input 0: any rank >= 1, a float or integer type, quantized or not.
/// Output 0: the mean, the input's shape, where `axes` have extents of 1
/// (keep_dims) or are left out; [1] where nothing is left.  Output 1: the
/// variance, same shape.  Any of these types each.
/// - axes: at least one, in [-rank, rank), 0 = fastest-varying dimension, in
///        any order; an axis named twice counts once.
/// - keep_dims: whether reduced axes stay, with the extent 1.
/// Errors: Compile() fails where `axes` is empty or names an axis outside of
/// the rank, and on other types.
/// Source: TensorFlow nn.moments; no single ONNX or TFLite operator.
class Moments : public BuiltinOpOf<Moments> {
 public:
  static const char* OpName() { return "Moments"; }
  Moments(Graph* graph, const std::vector<int32_t>& axes,
          bool keep_dims = false)
      : BuiltinOpOf(graph, {{"axes", axes}, {"keep_dims", keep_dims}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_MOMENTS_H_
