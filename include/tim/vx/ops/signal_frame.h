// Overlapping windows of a signal.
#ifndef TIM_VX_OPS_SIGNAL_FRAME_H_
#define TIM_VX_OPS_SIGNAL_FRAME_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Cuts an axis into windows: dimension `axis` of the output counts within a
/// window, the new dimension axis + 1 counts windows:
///   out(.., t, f, ..) = in(.., f * step + t, ..), 0 beyond the end.
///
/// Input 0: any type.  Output 0: window_length and the number of windows
/// instead of the extent n: (n - window_length) / step + 1, or ceil(n / step)
/// with pad_end; another type or quantization converts.
/// - pad_end: not 0: windows may reach beyond the end.
/// - axis: 0 = fastest-varying dimension, negative ones count from the end.
/// Errors: Compile() fails where window_length or step is 0, where the window
/// is longer than n without pad_end, and where axis is outside of the rank.
/// Source: tf.signal.frame; ONNX and TFLite: Gather of windows.
class SignalFrame : public BuiltinOpOf<SignalFrame> {
 public:
  static const char* OpName() { return "SignalFrame"; }
  SignalFrame(Graph* graph, uint32_t window_length, uint32_t step,
              uint32_t pad_end = 0, uint32_t axis = 0)
      : BuiltinOpOf(graph, {{"window_length", window_length},
                            {"step", step},
                            {"pad_end", pad_end},
                            {"axis", axis}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_SIGNAL_FRAME_H_
