// Regions of an image, pooled to one size.
#ifndef TIM_VX_OPS_ROI_POOL_H_
#define TIM_VX_OPS_ROI_POOL_H_

#include <array>
#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// The greatest element in each of width * height bins of every region.  With
/// the corners rounded, r = round(coordinate * scale), halves away from zero,
/// and n = max(r2 - r1 + 1, 1), bin b along W covers
///   [floor(b * n / width) + r1, ceil((b + 1) * n / width) + r1)
/// clipped to the image, and along H likewise; an empty bin gives 0.
///
/// Input 0, features: [W, H, C, N].
/// Input 1, regions: [5, R], (batch, x1, y1, x2, y2).
/// Output 0: [width, height, C, R].  The element is converted (as by
/// DataConvert) where type or quantization differ; of NaN and numbers NaN
/// counts.  A region of a batch that is not there gives 0.
/// Types: FLOAT32, FLOAT16, integers, quantized or not, each tensor its own.
///
/// - type: MAX.
/// - scale: above 0.
/// - size: {width, height} of the output, at least 1.
/// - input_layout: tim::transform::LayoutInference alone acts on it.
/// Errors: Compile() fails on other pool types, on other ranks, on regions that
/// are no rows of five, and on bool8.
/// Source: ONNX MaxRoiPool-1; Caffe ROIPooling.
class RoiPool : public BuiltinOpOf<RoiPool> {
 public:
  static const char* OpName() { return "RoiPool"; }

  RoiPool(Graph* graph, PoolType type, float scale,
          const std::array<uint32_t, 2>& size,
          DataLayout input_layout = DataLayout::WHCN)
      : BuiltinOpOf(graph, {{"type", type},
                            {"scale", scale},
                            {"size", size},
                            {"layout", input_layout}}) {}
};

/// The older name.
using ROI_Pool = RoiPool;

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_ROI_POOL_H_
