// Rows of another length.
#ifndef TIM_VX_OPS_RESIZE1D_H_
#define TIM_VX_OPS_RESIZE1D_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Resize along W alone: see Resize for the formula, types and errors.
///
/// Input 0: [W, C, N] (any rank >= 1).  Output 0: [W', C, N].
/// - type: NEAREST_NEIGHBOR or BILINEAR (linear).
/// - factor: W' = trunc(W * factor); 0: the target counts.
/// - target_size: W'.
/// - layout: has no effect.
/// Source: ONNX Resize of one axis (mode linear or nearest).
class Resize1d : public BuiltinOpOf<Resize1d> {
 public:
  static const char* OpName() { return "Resize1d"; }

  Resize1d(Graph* graph, ResizeType type, float factor, bool align_corners,
           bool half_pixel_centers, int target_size,
           DataLayout layout = DataLayout::WHCN)
      : BuiltinOpOf(graph, {{"type", type},
                            {"factor", factor},
                            {"align_corners", align_corners},
                            {"half_pixel_centers", half_pixel_centers},
                            {"target_size", target_size},
                            {"layout", layout}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_RESIZE1D_H_
