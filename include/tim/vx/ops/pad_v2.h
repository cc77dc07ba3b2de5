// Padding with a fractional constant.
#ifndef TIM_VX_OPS_PAD_V2_H_
#define TIM_VX_OPS_PAD_V2_H_

#include <cstdint>
#include <vector>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Pad (tim/vx/ops/pad.h) with a fractional constant.
///
/// - const_val: real value of what PAD_MODE_CONSTANT adds; rounded and
///        saturated to the output's type.
/// Operands, further parameters and errors: those of Pad.
/// Source: ONNX Pad-19, TFLite PADV2.
class PadV2 : public BuiltinOpOf<PadV2> {
 public:
  typedef enum {
    PAD_MODE_CONSTANT,
    PAD_MODE_EDGE,
    PAD_MODE_SYMMETRIC,
    PAD_MODE_REFLECT,
  } pad_mode_type;

  static const char* OpName() { return "PadV2"; }

  PadV2(Graph* graph, const std::vector<uint32_t>& front_size,
        const std::vector<uint32_t>& back_size, float const_val)
      : PadV2(graph, front_size, back_size, const_val, PAD_MODE_CONSTANT) {}

  PadV2(Graph* graph, const std::vector<uint32_t>& front_size,
        const std::vector<uint32_t>& back_size, float const_val,
        pad_mode_type pad_mode)
      : BuiltinOpOf(graph, {{"front_size", front_size},
                            {"back_size", back_size},
                            {"const_val", const_val},
                            {"pad_mode", pad_mode}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_PAD_V2_H_
