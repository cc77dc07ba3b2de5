// The gradient of a maximum over windows.
#ifndef TIM_VX_OPS_MAXPOOLGRAD_H_
#define TIM_VX_OPS_MAXPOOLGRAD_H_

#include <array>
#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out = 0; for every window o of input 0: out[greatest cell of o] += grad[o].
/// The greatest cell is that of MaxpoolWithArgmax2: the first of equal ones.  A
/// window without a cell inside the image gives its gradient to none.
///
/// Input 0, what was pooled: [W, H, C, N] or [W, H, C]; a float type or
/// integers, quantized or not.
/// Input 1, the gradient: the shape of the pooled result, extents
/// R((W + left + right - kw) / stride_w) + 1 with R being `round_type`.
/// Output 0: the shape of input 0.  Gradients are added as FLOAT32, window by
/// window in row-major order.
///
/// - padding: AUTO, NONE and VALID: no pads.  SAME: the output is
///        ceil(W / stride_w) wide; of an odd total the right and bottom get
///        one more.
/// - ksize, stride: {W, H}, cells.
/// - round_type: rounding of the extents; a later SetRoundingPolicy()
///        replaces it.
/// - layout: has no effect.
/// Errors: Compile() fails on other ranks, on a gradient of another shape, on
/// bool8, and on a stride of 0 (unless the window is the image).
/// Source: TensorFlow MaxPoolGrad; XLA SelectAndScatter with >= and +.
class MaxpoolGrad : public BuiltinOpOf<MaxpoolGrad> {
 public:
  static const char* OpName() { return "MaxpoolGrad"; }

  MaxpoolGrad(Graph* graph, PadType padding,
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

#endif  // TIM_VX_OPS_MAXPOOLGRAD_H_
