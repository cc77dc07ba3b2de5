// Change of shape.
#ifndef TIM_VX_OPS_RESHAPE_H_
#define TIM_VX_OPS_RESHAPE_H_

#include <cstdint>
#include <vector>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// The same elements in the same order under another shape.
///
/// Input 0: any type and shape.  Output 0: `size`; another type or
/// quantization converts.
/// - size: extents, fastest-varying first.  One may be uint32_t(-1), found
///        from the rest; 0 keeps the input's extent; empty means {1}.
/// Errors: Compile() fails where the numbers of elements differ and where more
/// than one extent is to be found.
/// Source: ONNX Reshape-14 (allowzero = 0), TFLite RESHAPE.
class Reshape : public BuiltinOpOf<Reshape> {
 public:
  static const char* OpName() { return "Reshape"; }
  Reshape(Graph* graph, const std::vector<uint32_t>& size)
      : BuiltinOpOf(graph, {{"shape", size}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_RESHAPE_H_
