// Images of another size.
#ifndef TIM_VX_OPS_RESIZE_H_
#define TIM_VX_OPS_RESIZE_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Planes [W, H] sampled at other points.  Along each of the two axes, with n
/// elements in and m out:
///   scale = align_corners && m > 1 ? (n - 1) / (m - 1) : n / m
///   hp = half_pixel_centers ? 0.5 : 0
/// NEAREST_NEIGHBOR: out[o] = in[trunc((o + hp) * scale + (align_corners ? 0.5
///   : 0))], the index clamped to the image: elements are moved, and converted
///   where type or quantization differ (as by DataConvert).
/// BILINEAR: x = (o + hp) * scale - hp lies between floor(x) and floor(x) + 1,
///   both clamped to the image; the weight of the second is x - floor(x).  A
///   neighbour of weight 0 does not count, whatever it is.
/// The coordinates are rounded to float32 after every operation, as in TFLite,
/// and are the same on every device.  Where no extent changes, elements are
/// converted.
///
/// Input 0: [W, H, C, N] (any rank >= 2); FLOAT32, FLOAT16 or quantized;
/// NEAREST_NEIGHBOR: any type.
/// Output 0: [W', H', C, N]; W' = trunc(W * factor) in float32, H' likewise.
///
/// - type: NEAREST_NEIGHBOR or BILINEAR.
/// - factor: of both extents; 0: the targets count.  It makes the shape
///        alone, never the scale.
/// - target_height: H'.
/// - target_width: W'.
/// - layout: tim::transform::LayoutInference alone acts on it.
/// The declared W' and H' of an OUTPUT tensor rule.
/// Errors: Compile() fails on AREA, on rank 1, on an output to infer whose
/// extents are not from 1 to 2^31 - 1, and for BILINEAR on bool8 and integers
/// of 64 bits.
/// Source: ONNX Resize (align_corners, half_pixel and asymmetric coordinates,
/// rounding by floor); TFLite RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR.
class Resize : public BuiltinOpOf<Resize> {
 public:
  static const char* OpName() { return "Resize"; }

  Resize(Graph* graph, ResizeType type, float factor, bool align_corners,
         bool half_pixel_centers, int target_height, int target_width,
         DataLayout layout = DataLayout::WHCN)
      : BuiltinOpOf(graph, {{"type", type},
                            {"factor", factor},
                            {"align_corners", align_corners},
                            {"half_pixel_centers", half_pixel_centers},
                            {"target_height", target_height},
                            {"target_width", target_width},
                            {"layout", layout}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_RESIZE_H_
