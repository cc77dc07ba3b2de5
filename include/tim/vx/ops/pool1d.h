// Pooling over windows of a row.
#ifndef TIM_VX_OPS_POOL1D_H_
#define TIM_VX_OPS_POOL1D_H_

#include <array>
#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// One value per window of every channel: MAX the greatest cell inside the
/// row; AVG the sum of the cells inside divided by the window's size;
/// AVG_ANDROID by their number; AVG_PADDED by the number of the window's cells
/// inside of the padded row; L2 sqrt(sum of squares / their number).
/// AVG and AVG_PADDED differ where a window reaches beyond the padding, as the
/// last one may with CEILING and where a declared extent rules.
///
/// Input 0: [W, C, N]; FLOAT32, FLOAT16 or quantized.
/// Output 0: [R((W + left + right - k) / stride) + 1, C, N], R being
/// `round_type`.
///
/// Forms: windows with a PadType; windows with pads; global (one window of
/// `input_size`); adaptive (stride = floor(in / out), k = in - (out - 1) *
/// stride, no pads).
/// - padding: AUTO, NONE and VALID: no pads.  SAME: the output is
///        ceil(W / stride) long; of an odd total the end gets one more.
/// - pad: {left, right}, cells.
/// - ksize, stride, input_size, output_size: cells.
/// - round_type: rounding of the extent; a later SetRoundingPolicy() replaces
///        it.
/// - layout: without effect.
/// The declared length of an OUTPUT tensor rules where it has another number of
/// elements; cells beyond the padded input are outside of every window.
/// Errors: Compile() fails on other ranks and types, on a stride of 0 (unless
/// the window is the row) and on an output to infer that is empty.
/// With CEILING, ONNX Runtime and PyTorch leave out a last window that begins
/// behind the row's last cell; here it is there, unless the declared extent is
/// one less.
/// Source: ONNX MaxPool-12, AveragePool-19 (count_include_pad 1: AVG_PADDED; 0:
/// AVG_ANDROID), LpPool-11 and their Global forms; PyTorch's avg_pool likewise;
/// TFLite's pools of height 1.
class Pool1d : public BuiltinOpOf<Pool1d> {
 public:
  static const char* OpName() { return "Pool1d"; }

  Pool1d(Graph* graph, PoolType type, PadType padding, uint32_t ksize,
         uint32_t stride, RoundType round_type = RoundType::FLOOR,
         DataLayout layout = DataLayout::WCN)
      : BuiltinOpOf(graph, {{"mode", "window"},
                            {"type", type},
                            {"padding", padding},
                            {"ksize", ksize},
                            {"stride", stride},
                            {"round_type", round_type},
                            {"layout", layout}}) {}

  Pool1d(Graph* graph, PoolType type, const std::array<uint32_t, 2>& pad,
         uint32_t ksize, uint32_t stride,
         RoundType round_type = RoundType::FLOOR,
         DataLayout layout = DataLayout::WCN)
      : BuiltinOpOf(graph, {{"mode", "window"},
                            {"type", type},
                            {"padding", PadType::AUTO},
                            {"pad", pad},
                            {"ksize", ksize},
                            {"stride", stride},
                            {"round_type", round_type},
                            {"layout", layout}}) {}

  Pool1d(Graph* graph, PoolType type, uint32_t input_size,
         RoundType round_type = RoundType::FLOOR,
         DataLayout layout = DataLayout::WCN)
      : BuiltinOpOf(graph, {{"mode", "global"},
                            {"type", type},
                            {"input_size", input_size},
                            {"round_type", round_type},
                            {"layout", layout}}) {}

  Pool1d(Graph* graph, PoolType type, uint32_t input_size, uint32_t output_size,
         RoundType round_type = RoundType::FLOOR,
         DataLayout layout = DataLayout::WCN)
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

#endif  // TIM_VX_OPS_POOL1D_H_
