// Images under an affine map of their coordinates.
#ifndef TIM_VX_OPS_SPATIAL_TRANSFORMER_H_
#define TIM_VX_OPS_SPATIAL_TRANSFORMER_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out(x, y) = the image at (in_x, in_y), bilinear.  In float32, with n = ow -
/// 1 where align_corners and ow > 1, else n = ow, and m likewise of oh:
///   u = 2 * x / n - 1                       v = 2 * y / m - 1
///   s_h = theta_11 * v + theta_12 * u + theta_13
///   s_w = theta_21 * v + theta_22 * u + theta_23
///   in_y = (s_h + 1) / 2 * H                in_x = (s_w + 1) / 2 * W
/// Row 1 of theta is the vertical coordinate, and its first column multiplies
/// v.  Elements outside of the image are 0, and so is a result whose in_x or
/// in_y is below 0.
///
/// Input 0: [W, H, C, N].
/// Input 1, theta: [n, B] or [n] with the n numbers whose `has_theta` is false,
/// in the order 11, 12, 13, 21, 22, 23; B is N or 1.  Not needed, and not read,
/// where n is 0.
/// Output 0: [ow, oh, C, N].
/// Types: FLOAT32, FLOAT16 or quantized, each tensor its own.
///
/// - output_h, output_w: oh and ow; 0: the image's extent.
/// - has_theta_1_1 to has_theta_2_3: true: the constant theta counts.
/// - theta_1_1 to theta_2_3: those constants.
/// - align_corners: see above.
/// Errors: Compile() fails on other ranks, on a theta of another size, and on
/// bool8.
/// Source: Caffe SpatialTransformer; ONNX AffineGrid and GridSample have other
/// centers.
class SpatialTransformer : public BuiltinOpOf<SpatialTransformer> {
 public:
  static const char* OpName() { return "SpatialTransformer"; }

  SpatialTransformer(Graph* graph, uint32_t output_h, uint32_t output_w,
                     bool has_theta_1_1, bool has_theta_1_2, bool has_theta_1_3,
                     bool has_theta_2_1, bool has_theta_2_2, bool has_theta_2_3,
                     float theta_1_1, float theta_1_2, float theta_1_3,
                     float theta_2_1, float theta_2_2, float theta_2_3,
                     bool align_corners = false)
      : BuiltinOpOf(graph, {{"output_h", output_h},
                            {"output_w", output_w},
                            {"has_theta_1_1", has_theta_1_1},
                            {"has_theta_1_2", has_theta_1_2},
                            {"has_theta_1_3", has_theta_1_3},
                            {"has_theta_2_1", has_theta_2_1},
                            {"has_theta_2_2", has_theta_2_2},
                            {"has_theta_2_3", has_theta_2_3},
                            {"theta_1_1", theta_1_1},
                            {"theta_1_2", theta_1_2},
                            {"theta_1_3", theta_1_3},
                            {"theta_2_1", theta_2_1},
                            {"theta_2_2", theta_2_2},
                            {"theta_2_3", theta_2_3},
                            {"align_corners", align_corners}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_SPATIAL_TRANSFORMER_H_
