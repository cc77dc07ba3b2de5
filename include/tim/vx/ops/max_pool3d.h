// The maximum over windows of volumes.
#ifndef TIM_VX_OPS_MAX_POOL3D_H_
#define TIM_VX_OPS_MAX_POOL3D_H_

#include <array>
#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// The greatest cell inside the volume of every window of every channel.
///
/// Input 0: [W, H, D, C, N] or [W, H, D, C]; a float type or integers,
/// quantized or not. Output 0: extents R((W + left + right - kw) / stride_w) +
/// 1, R being `round_type`, H and D likewise; C and N are kept.  The cell is
/// converted (as by DataConvert) where type or quantization differ.
///
/// - round_type: rounding of the extents; a later SetRoundingPolicy()
///        replaces it.
/// - ksize, stride: {W, H, D}, cells.
/// - pad: {left, right, top, bottom, front, rear}, cells; of pad_type AUTO
///        (and NONE) alone.
/// - pad_type: AUTO; VALID: no pads; SAME: the output is ceil(W / stride_w)
///        wide, and of an odd total the far end gets one more.
/// - layout: has no effect.
/// Of NaN and numbers NaN counts.  A window in the padding alone gives the
/// least (finite) value of the output's type.  The declared W, H and D of an
/// OUTPUT tensor rule where it has another number of elements. Errors:
/// Compile() fails on other ranks, on bool8, on a stride of 0 (unless the
/// window is the volume) and on an output to infer that is empty. Source: ONNX
/// MaxPool-12 over three axes.
class MaxPool3d : public BuiltinOpOf<MaxPool3d> {
 public:
  static const char* OpName() { return "MaxPool3d"; }

  MaxPool3d(Graph* graph, RoundType round_type,
            const std::array<uint32_t, 3>& ksize,
            const std::array<uint32_t, 3>& stride,
            const std::array<uint32_t, 6>& pad, PadType pad_type,
            DataLayout layout = DataLayout::WHDCN)
      : BuiltinOpOf(graph, {{"round_type", round_type},
                            {"ksize", ksize},
                            {"stride", stride},
                            {"pad", pad},
                            {"padding", pad_type},
                            {"layout", layout}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_MAX_POOL3D_H_
