// Channels to blocks of space.
#ifndef TIM_VX_OPS_DEPTH2SPACE_H_
#define TIM_VX_OPS_DEPTH2SPACE_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Moves channels to blocks of b = block_size along width and height: with
/// Co = C / b^2, x = w % b, y = h % b
///   DCR_mode: out(w, h, c, n) = in(w / b, h / b, (y * b + x) * Co + c, n)
///   CRD_mode: out(w, h, c, n) = in(w / b, h / b, c * b^2 + y * b + x, n).
///
/// Input 0: [W, H, C, N], any type.  Output 0: [W * b, H * b, C / b^2, N];
/// another type or quantization converts.
/// - layout: tim::transform::LayoutInference alone reads it.
/// Errors: Compile() fails on other ranks and where C is no multiple of b^2.
/// Source: ONNX DepthToSpace-13, TFLite DEPTH_TO_SPACE (DCR_mode).
class DepthToSpace : public BuiltinOpOf<DepthToSpace> {
 public:
  enum depth2space_mode { DCR_mode = 0, CRD_mode = 1 };

  static const char* OpName() { return "DepthToSpace"; }

  DepthToSpace(Graph* graph, int block_size,
               DataLayout layout = DataLayout::WHCN)
      : DepthToSpace(graph, block_size, DCR_mode, layout) {}

  DepthToSpace(Graph* graph, int block_size, depth2space_mode mode,
               DataLayout layout = DataLayout::WHCN)
      : BuiltinOpOf(
            graph,
            {{"block_size", block_size}, {"mode", mode}, {"layout", layout}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_DEPTH2SPACE_H_
