// Pooling over windows of an image.
#ifndef TIM_VX_OPS_POOL2D_H_
#define TIM_VX_OPS_POOL2D_H_

#include <array>
#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// One value per window of every channel: MAX the greatest cell inside the
/// image; AVG the sum of the cells inside divided by the window's size;
/// AVG_ANDROID by their number; AVG_PADDED by the number of the window's cells
/// inside of the padded image; L2 sqrt(sum of squares / their number).
/// AVG and AVG_PADDED differ where a window reaches beyond the padding, as the
/// last one may with CEILING and where a declared extent rules.
///
/// Input 0: [W, H, C, N] or [W, H, C]; FLOAT32, FLOAT16 or quantized.
/// Output 0: extents R((W + left + right - kw) / stride_w) + 1, R being
/// `round_type`, H likewise; other extents are kept.
///
/// Forms: windows with a PadType; windows with pads; global (one window of
/// `input_size`); adaptive (stride = floor(in / out), k = in - (out - 1) *
/// stride, no pads).
/// - padding: AUTO, NONE and VALID: no pads.  SAME: the output is
///        ceil(W / stride_w) wide; of an odd total the right and bottom get
///        one more.
/// - pad: {left, right, top, bottom}, cells.
/// - ksize, stride, input_size, output_size: {W, H}, cells.
/// - round_type: rounding of the extents; a later SetRoundingPolicy()
///        replaces it.
/// - layout: tim::transform::LayoutInference alone acts on it.
/// The declared W and H of an OUTPUT tensor rule where it has another number of
/// elements; cells beyond the padded input are outside of every window.
/// Errors: Compile() fails on other ranks and types, on a stride of 0 (unless
/// the window is the image) and on an output to infer that is empty.
/// With CEILING, ONNX Runtime and PyTorch leave out a last window that begins
/// behind the image's last cell; here it is there, unless the declared extent
/// is one less.
/// Source: ONNX MaxPool-12, AveragePool-19 (count_include_pad 1: AVG_PADDED; 0:
/// AVG_ANDROID), LpPool-11 and their Global forms; PyTorch's avg_pool likewise;
/// TFLite AVERAGE_POOL_2D (AVG_ANDROID), MAX_POOL_2D, L2_POOL_2D.
class Pool2d : public BuiltinOpOf<Pool2d> {
 public:
  static const char* OpName() { return "Pool2d"; }

  Pool2d(Graph* graph, PoolType type, PadType padding,
         const std::array<uint32_t, 2>& ksize,
         const std::array<uint32_t, 2>& stride,
         RoundType round_type = RoundType::FLOOR,
         DataLayout layout = DataLayout::WHCN)
      : BuiltinOpOf(graph, {{"mode", "window"},
                            {"type", type},
                            {"padding", padding},
                            {"ksize", ksize},
                            {"stride", stride},
                            {"round_type", round_type},
                            {"layout", layout}}) {}

  Pool2d(Graph* graph, PoolType type, const std::array<uint32_t, 4>& pad,
         const std::array<uint32_t, 2>& ksize,
         const std::array<uint32_t, 2>& stride,
         RoundType round_type = RoundType::FLOOR,
         DataLayout layout = DataLayout::WHCN)
      : BuiltinOpOf(graph, {{"mode", "window"},
                            {"type", type},
                            {"padding", PadType::AUTO},
                            {"pad", pad},
                            {"ksize", ksize},
                            {"stride", stride},
                            {"round_type", round_type},
                            {"layout", layout}}) {}

  Pool2d(Graph* graph, PoolType type, const std::array<uint32_t, 2>& input_size,
         RoundType round_type = RoundType::FLOOR,
         DataLayout layout = DataLayout::WHCN)
      : BuiltinOpOf(graph, {{"mode", "global"},
                            {"type", type},
                            {"input_size", input_size},
                            {"round_type", round_type},
                            {"layout", layout}}) {}

  Pool2d(Graph* graph, PoolType type, const std::array<uint32_t, 2>& input_size,
         const std::array<uint32_t, 2>& output_size,
         RoundType round_type = RoundType::FLOOR,
         DataLayout layout = DataLayout::WHCN)
      : BuiltinOpOf(graph, {{"mode", "adaptive"},
                            {"type", type},
                            {"input_size", input_size},
                            {"output_size", output_size},
                            {"round_type", round_type},
                            {"layout", layout}}) {}

  /// Kept for older clients; does nothing.
  void Init() {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_POOL2D_H_
