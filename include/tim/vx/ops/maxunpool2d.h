// Values put back where a maximum over windows found them.
#ifndef TIM_VX_OPS_MAXUNPOOL2D_H_
#define TIM_VX_OPS_MAXUNPOOL2D_H_

#include <array>
#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out = 0; out[x * stride_w + i % kw, y * stride_h + i / kw] = in[x, y] with
/// i = indices[x, y], the local indices of MaxpoolWithArgmax.  Where several
/// windows meet, the last in row-major order counts.  Targets outside of the
/// output and indices outside of the window are dropped.
///
/// Input 0: [W, H, C, N] or [W, H, C]; a float type or integers, quantized or
/// not.
/// Input 1, indices: the same shape; UINT8 or another integer type.  Its codes
/// are the indices, whatever its quantization.
/// Output 0: [W', H', C, N]: the declared W' and H' of an OUTPUT tensor, else
/// W' = (W - 1) * stride_w + kw, H' likewise.  Values are converted (as by
/// DataConvert) where type or quantization differ; what none goes to is the
/// real value 0.
///
/// - ksize, stride: {W, H}, cells, at least 1.
/// - layout: has no effect.
/// Errors: Compile() fails on other ranks, on inputs of different shapes and on
/// bool8.
/// Source: ONNX MaxUnpool, whose indices count in the whole output.
class MaxUnpool2d : public BuiltinOpOf<MaxUnpool2d> {
 public:
  static const char* OpName() { return "MaxUnpool2d"; }

  MaxUnpool2d(Graph* graph, const std::array<uint32_t, 2>& ksize,
              const std::array<uint32_t, 2>& stride,
              DataLayout layout = DataLayout::WHCN)
      : BuiltinOpOf(
            graph, {{"ksize", ksize}, {"stride", stride}, {"layout", layout}}) {
  }
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_MAXUNPOOL2D_H_
