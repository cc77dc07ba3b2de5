// Strided ranges of a tensor.
#ifndef TIM_VX_OPS_STRIDEDSLICE_H_
#define TIM_VX_OPS_STRIDEDSLICE_H_

#include <cstdint>
#include <vector>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Takes every stride-th element of a range of each dimension:
///   out(o) = in(begin + o * stride).
///
/// Input 0: any type.  Output 0: extents ceil((end - begin) / stride); {1}
/// where every dimension is shrunk.  The extents of a declared output rule
/// instead, and `end` then has no meaning.  Another type or quantization
/// converts.
/// - begin_dims, end_dims, stride_dims: of as many values; slower dimensions
///        are taken whole.  Negative begins and ends count from the extent;
///        both are clamped to it.  Strides may be negative.
/// - begin_mask, end_mask: bit i: dimension i from its first element, to its
///        last one (from the last, to the first, by a negative stride).
/// - shrink_axis_mask: bit i: the element at begin alone, and the dimension
///        goes.
/// - new_axis_mask: bit i: no dimension of the input, a new one of extent 1.
/// Errors: Compile() fails on strides of 0, where nothing is left, and where
/// the output reaches outside of the input.
/// Source: TFLite STRIDED_SLICE (whose masks count from the slowest dimension),
/// ONNX Slice-13.
class StridedSlice : public BuiltinOpOf<StridedSlice> {
 public:
  static const char* OpName() { return "StridedSlice"; }
  StridedSlice(Graph* graph, const std::vector<int32_t> begin_dims,
               const std::vector<int32_t> end_dims,
               const std::vector<int32_t> stride_dims, int32_t begin_mask,
               int32_t end_mask, int32_t shrink_axis_mask)
      : StridedSlice(graph, begin_dims, end_dims, stride_dims, begin_mask,
                     end_mask, shrink_axis_mask, 0) {}
  StridedSlice(Graph* graph, const std::vector<int32_t> begin_dims,
               const std::vector<int32_t> end_dims,
               const std::vector<int32_t> stride_dims, int32_t begin_mask,
               int32_t end_mask, int32_t shrink_axis_mask,
               int32_t new_axis_mask)
      : BuiltinOpOf(graph, {{"begin_dims", begin_dims},
                            {"end_dims", end_dims},
                            {"stride_dims", stride_dims},
                            {"begin_mask", begin_mask},
                            {"end_mask", end_mask},
                            {"shrink_axis_mask", shrink_axis_mask},
                            {"new_axis_mask", new_axis_mask}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_STRIDEDSLICE_H_
