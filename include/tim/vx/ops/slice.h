// A box of a tensor.
#ifndef TIM_VX_OPS_SLICE_H_
#define TIM_VX_OPS_SLICE_H_

#include <cstdint>
#include <vector>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Takes a box, every step-th element of it along each dimension:
///   out(o) = in(start + o * step).
///
/// Input 0: any type.  Output 0: extents ceil(length / step); another type or
/// quantization converts.
/// - dims: number of dimensions of the vectors, 0 = the input's rank.  Slower
///        dimensions are taken whole.
/// - start, length: the box in the input, length also where there is a step.
///        Both are taken as they are: a length of -1 means nothing.
/// - step: >= 1.
/// Errors: Compile() fails where the box is not inside of the input and where
/// vectors are not of `dims` values.
/// Source: ONNX Slice-13, TFLite SLICE and, with step, STRIDED_SLICE.
class Slice : public BuiltinOpOf<Slice> {
 public:
  static const char* OpName() { return "Slice"; }
  Slice(Graph* graph, uint32_t dims, const std::vector<int32_t>& start,
        const std::vector<int32_t>& length)
      : BuiltinOpOf(graph,
                    {{"dims", dims}, {"start", start}, {"length", length}}) {}
  Slice(Graph* graph, uint32_t dims, const std::vector<int32_t>& start,
        const std::vector<int32_t>& length, const std::vector<int32_t>& step)
      : BuiltinOpOf(graph, {{"dims", dims},
                            {"start", start},
                            {"length", length},
                            {"step", step}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_SLICE_H_
