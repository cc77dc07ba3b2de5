// The maximum over windows, and where in its window it stands.
#ifndef TIM_VX_OPS_MAXPOOLWITHARGMAX_H_
#define TIM_VX_OPS_MAXPOOLWITHARGMAX_H_

#include <array>
#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Output 0 has the greatest cell inside the image of every window of every
/// channel, output 1 its index in the window, wx + kw * wy: of equal cells the
/// first, and of NaN and numbers the first NaN.  MaxUnpool2d is the reverse.
///
/// Input 0: [W, H, C, N] or [W, H, C]; a float type or integers, quantized or
/// not.
/// Output 0: extents R((W + left + right - kw) / stride_w) + 1, R being
/// `round_type`, H likewise; C and N are kept.  The cell is converted (as by
/// DataConvert) where type or quantization differ.
/// Output 1: the same shape; UINT8 or another integer type of at least 8 bits
/// that holds kw * kh - 1.  Its codes are the indices, whatever its
/// quantization.
///
/// - padding: AUTO, NONE and VALID: no pads.  SAME: the output is
///        ceil(W / stride_w) wide; of an odd total the right and bottom get
///        one more.
/// - ksize, stride: {W, H}, cells.
/// - round_type: rounding of the extents; a later SetRoundingPolicy()
///        replaces it.
/// - layout: has no effect.
/// The declared W and H of an OUTPUT tensor say how many windows there are
/// where it has another number of elements: those at the border are cut, and
/// one without a cell inside gives the least (finite) value and the index 0.
/// Errors: Compile() fails on other ranks, on bool8, on a type of indices that
/// cannot hold them, on a stride of 0 (unless the window is the image) and on
/// an output to infer that is empty. Source: none in ONNX or TFLite, whose
/// indices count in the whole input.
class MaxpoolWithArgmax : public BuiltinOpOf<MaxpoolWithArgmax> {
 public:
  static const char* OpName() { return "MaxpoolWithArgmax"; }

  MaxpoolWithArgmax(Graph* graph, PadType padding,
                    const std::array<uint32_t, 2>& ksize,
                    const std::array<uint32_t, 2>& stride,
                    RoundType round_type = RoundType::FLOOR,
                    DataLayout layout = DataLayout::WHCN)
      : BuiltinOpOf(graph, {{"padding", padding},
                            {"ksize", ksize},
                            {"stride", stride},
                            {"round_type", round_type},
                            {"layout", layout}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_MAXPOOLWITHARGMAX_H_
