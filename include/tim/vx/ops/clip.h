// Limits.
#ifndef TIM_VX_OPS_CLIP_H_
#define TIM_VX_OPS_CLIP_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out = min(max(in, min), max).
/// Input 0: any rank; a float or integer type.  Output 0: same shape, any of
/// these types; quantized results are requantized to its scale and zero point.
/// Integers without quantization are exact.  NaN stays NaN; in an integer
/// output it is the code 0.
/// - min, max: real values; an infinite one sets no limit.
/// Errors: Compile() fails on other types, on a declared output shape with
/// another number of elements and where a parameter is NaN.
/// Source: ONNX Clip, TFLite RELU_N1_TO_1 and RELU6.
class Clip : public BuiltinOpOf<Clip> {
 public:
  static const char* OpName() { return "Clip"; }
  Clip(Graph* graph, float min, float max)
      : BuiltinOpOf(graph, {{"min", min}, {"max", max}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_CLIP_H_
