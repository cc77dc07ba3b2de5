// Blocks of space to channels.
#ifndef TIM_VX_OPS_SPACE2DEPTH_H_
#define TIM_VX_OPS_SPACE2DEPTH_H_

#include <cstdint>
#include <vector>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Moves blocks of space to the channels: with bx, by = block_size
///   out(x, y, (j * bx + i) * C + c, n) = in(x * bx + i, y * by + j, c, n).
///
/// Input 0: [W, H, C, N], any type.  Output 0: [W / bx, H / by, C * bx * by,
/// N]; another type or quantization converts.
/// - block_size: {bx, by}, of width first.
/// - layout: tim::transform::LayoutInference alone reads it.
/// Errors: Compile() fails on other ranks and where an extent is no multiple of
/// its block.
/// Source: ONNX SpaceToDepth-13, TFLite SPACE_TO_DEPTH.
class SpaceToDepth : public BuiltinOpOf<SpaceToDepth> {
 public:
  static const char* OpName() { return "SpaceToDepth"; }
  SpaceToDepth(Graph* graph, std::vector<int> block_size,
               DataLayout layout = DataLayout::WHCN)
      : BuiltinOpOf(graph, {{"block_size", block_size}, {"layout", layout}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_SPACE2DEPTH_H_
