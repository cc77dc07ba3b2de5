// Extents of 1 dropped.
#ifndef TIM_VX_OPS_SQUEEZE_H_
#define TIM_VX_OPS_SQUEEZE_H_

#include <cstdint>
#include <vector>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// The same elements without dimensions of extent 1.
///
/// Input 0: any type.  Output 0: the other extents, {1} where none is left;
/// another type or quantization converts.
/// - axis: dimensions to drop, 0 = fastest-varying, negative ones count from
///        the end; empty: all of extent 1.
/// Errors: Compile() fails where a listed dimension has another extent or is
/// outside of the rank.
/// Source: ONNX Squeeze-13, TFLite SQUEEZE.
class Squeeze : public BuiltinOpOf<Squeeze> {
 public:
  static const char* OpName() { return "Squeeze"; }
  Squeeze(Graph* graph, std::vector<uint32_t> axis)
      : BuiltinOpOf(graph, {{"axis", axis}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_SQUEEZE_H_
