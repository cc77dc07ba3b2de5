// Regions of an image, sampled to one size.
#ifndef TIM_VX_OPS_ROI_ALIGN_H_
#define TIM_VX_OPS_ROI_ALIGN_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// The mean of bilinear samples in each of ow * oh bins of every region.  Along
/// W, with x1 and x2 divided by `width_ratio`, in float32:
///   bin = max(x2 - x1, 1) / ow
///   g = width_sample_num > 0 ? width_sample_num : ceil(bin - 1e-5)
///   sample i of bin b lies at s = x1 + b * bin + (i + 0.5) * bin / g
/// and along H likewise; out = sum of the samples / (g_w * g_h).  A sample of
/// which trunc(s) is below -1 or above W adds 0; the others blend the elements
/// trunc(s) and trunc(s) + 1, both clamped to the image, with the weight
/// s - floor(s) of the second, or 0 where trunc(s) >= W - 1.
///
/// That is NNAPI's rule.  ONNX's differs where a sample is outside of the
/// image; of a row 10 20 30 40, W = 4:
///   -2 < s < -1   the first element, 10; ONNX adds 0
///   -1 < s < 0    the first two blended, at -0.5 15; ONNX the first, 10
///   W < s < W + 1 the last element, 40; ONNX adds 0
/// At -1, from 0 to W, and beyond -2 and W + 1 both are alike.
///
/// Input 0, features: [W, H, C, N].
/// Input 1, regions: [4, R], (x1, y1, x2, y2) in the image's coordinates.
/// Input 2, the batch of each region: [R]; INT32 or another number.
/// Output 0: [ow, oh, C, R].  A region of a batch that is not there gives 0.
/// Types: FLOAT32, FLOAT16 or quantized, each tensor its own; regions of
/// quantized features are often UINT16 with a scale.
///
/// - output_height, output_width: oh and ow, at least 1; the height is first.
/// - height_ratio, width_ratio: extents of the image divided by those of the
///        features; above 0.
/// - height_sample_num, width_sample_num: samples in a bin along each axis, at
///        most 2^22; below 1: as many as the bin is long.
/// - input_layout: tim::transform::LayoutInference alone acts on it.
/// Errors: Compile() fails on other ranks, on regions that are no rows of four,
/// on another number of batches than regions, and on bool8.
/// Source: NNAPI ROI_ALIGN; ONNX RoiAlign-16 (output_half_pixel, avg,
/// spatial_scale = 1 / ratio) where all samples lie from 0 to W and to H.
class RoiAlign : public BuiltinOpOf<RoiAlign> {
 public:
  static const char* OpName() { return "RoiAlign"; }

  RoiAlign(Graph* graph, int32_t output_height, int32_t output_width,
           float height_ratio, float width_ratio, int32_t height_sample_num,
           int32_t width_sample_num, DataLayout input_layout = DataLayout::WHCN)
      : BuiltinOpOf(graph, {{"output_height", output_height},
                            {"output_width", output_width},
                            {"height_ratio", height_ratio},
                            {"width_ratio", width_ratio},
                            {"height_sample_num", height_sample_num},
                            {"width_sample_num", width_sample_num},
                            {"layout", input_layout}}) {}
};

/// The older name.
using ROI_Align = RoiAlign;

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_ROI_ALIGN_H_
