// Permutation of dimensions.
#ifndef TIM_VX_OPS_TRANSPOSE_H_
#define TIM_VX_OPS_TRANSPOSE_H_

#include <cstdint>
#include <vector>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Dimension i of the output is dimension perm[i] of the input.
///
/// Input 0: any type and rank.  Output 0: extents in[perm[i]]; per-channel
/// quantization moves along.
/// - perm: each of 0 .. rank - 1 once, 0 = fastest-varying dimension.
/// Errors: Compile() fails where perm is no permutation of the input's rank.
/// Source: ONNX Transpose-13, TFLite TRANSPOSE.
class Transpose : public BuiltinOpOf<Transpose> {
 public:
  static const char* OpName() { return "Transpose"; }
  Transpose(Graph* graph, const std::vector<uint32_t>& perm)
      : BuiltinOpOf(graph, {{"perm", perm}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_TRANSPOSE_H_
