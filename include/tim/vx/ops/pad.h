// Padding.
#ifndef TIM_VX_OPS_PAD_H_
#define TIM_VX_OPS_PAD_H_

#include <cstdint>
#include <vector>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Adds elements before and after those of the input, along every dimension.
///
/// Input 0: any type and rank >= 1.  Output 0: extents front_size[i] + in[i] +
/// back_size[i]; an input of another quantization is requantized to the
/// output's.
/// - front_size, back_size: elements added before and after, one count per
///        dimension, 0 = fastest-varying dimension.
/// - const_val: real value of what PAD_MODE_CONSTANT adds, an integer for
///        float tensors too (PadV2 takes fractions); saturated to the output's
///        type.
/// - pad_mode: PAD_MODE_EDGE repeats the first and last element,
///        PAD_MODE_SYMMETRIC mirrors with them (counts <= in[i]),
///        PAD_MODE_REFLECT without them (counts < in[i]).
/// Errors: Compile() fails where there is not one count per dimension, on
/// counts that cannot be mirrored, and where a per-channel quantization of the
/// output does not fit its channels.
/// Source: ONNX Pad-19, TFLite PAD, MIRROR_PAD.
class Pad : public BuiltinOpOf<Pad> {
 public:
  typedef enum {
    PAD_MODE_CONSTANT,
    PAD_MODE_EDGE,
    PAD_MODE_SYMMETRIC,
    PAD_MODE_REFLECT,
  } pad_mode_type;

  static const char* OpName() { return "Pad"; }

  Pad(Graph* graph, const std::vector<uint32_t>& front_size,
      const std::vector<uint32_t>& back_size, int32_t const_val)
      : Pad(graph, front_size, back_size, const_val, PAD_MODE_CONSTANT) {}

  Pad(Graph* graph, const std::vector<uint32_t>& front_size,
      const std::vector<uint32_t>& back_size, int32_t const_val,
      pad_mode_type pad_mode)
      : BuiltinOpOf(graph, {{"front_size", front_size},
                            {"back_size", back_size},
                            {"const_val", const_val},
                            {"pad_mode", pad_mode}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_PAD_H_
