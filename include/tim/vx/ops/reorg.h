// The reorganization of YOLOv2.
#ifndef TIM_VX_OPS_REORG_H_
#define TIM_VX_OPS_REORG_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Darknet's reorg, which is not SpaceToDepth: of each batch, flat, with
/// s = stride, planes = C / s^2 and channel k = off * planes + plane
///   out[i + W * (j + H * k)] =
///       in[i * s + off % s + W * s * (j * s + off / s + H * s * plane)].
///
/// Input 0: [W, H, C, N], any type.  Output 0: [W / s, H / s, C * s^2, N];
/// another type or quantization converts.
/// Errors: Compile() fails on other ranks, where W or H is no multiple of s,
/// and where C < s^2.
/// Source: Darknet's reorg layer; no ONNX or TFLite operator.
class Reorg : public BuiltinOpOf<Reorg> {
 public:
  static const char* OpName() { return "Reorg"; }
  Reorg(Graph* graph, const uint32_t stride)
      : BuiltinOpOf(graph, {{"stride", stride}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_REORG_H_
