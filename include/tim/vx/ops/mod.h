// Mod: what a division leaves.
#ifndef TIM_VX_OPS_MOD_H_
#define TIM_VX_OPS_MOD_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out = a - b * floor(a / b), of the sign of b; where a or b is of a float
/// type, or where `fmod` is not 0, a - b * trunc(a / b), of the sign of a.
///
/// Inputs 0 (a) and 1 (b): a float or integer type each, quantized or not.
/// Shapes are aligned at dimension 0 and padded with 1; each extent is equal or
/// 1.  Output 0: the larger extents, any of these types.
///
/// The remainder is exact, also where a is near a multiple of b, and that of
/// operands quantized with one scale counts in their codes.  Where b is 0 or a
/// is infinite it is NaN, the code 0 in an integer output.
/// - fmod: not 0: the remainder of integers and codes as C's fmod.
/// Errors: Compile() fails where the shapes do not broadcast, on other types,
/// and on a declared output shape with another number of elements.
/// Source: ONNX Mod-13, which wants fmod for float types; TFLite FLOOR_MOD.
class Mod : public BuiltinOpOf<Mod> {
 public:
  static const char* OpName() { return "Mod"; }
  explicit Mod(Graph* graph, int32_t fmod = 0)
      : BuiltinOpOf(graph, {{"fmod", fmod}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_MOD_H_
