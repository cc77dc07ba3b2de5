// GRUCell: one step of a gated recurrent unit.
#ifndef TIM_VX_OPS_GRUCELL_H_
#define TIM_VX_OPS_GRUCELL_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// One step of a gated recurrent unit; f is the recurrent activation, g the
/// activation, * the product of elements:
///   z = f(Wz x + bz + Uz h + cz)
///   r = f(Wr x + br + Ur h + cr)
///   n = g(Wh x + bh + r * (Uh h + ch)), where reset_after; otherwise
///   n = g(Wh x + bh + Uh (r * h) + ch)
///   out = (1 - z) * n + z * h
///
/// Input 0, x: [I, B].  Input 1, the state h: [U, B].
/// Inputs 2, 3, 4, the kernels Wz, Wr, Wh: [I, U].
/// Inputs 5, 6, 7, the recurrent kernels Uz, Ur, Uh: [U, U].
/// Inputs 8, 9, 10, the biases bz, br, bh, and 11, 12, 13, the recurrent biases
///        cz, cr, ch: [U] each, optional.
/// Outputs 0, out, and 1, the next state (optional): [U, B], the same values.
/// Types: float types and integers, quantized or not, each tensor its own; what
/// is computed is FLOAT32.
///
/// - num_units: U.
/// - activation, recurrent_activation: kNONE is x, kHARDSIGMOID is 0.2 x + 0.5
///        within 0 and 1.
/// Errors: Compile() fails where extents do not fit and on other types.
/// Source: Keras GRUCell; ONNX GRU-14 of one step, whose linear_before_reset is
/// reset_after.
class GRUCell : public BuiltinOpOf<GRUCell> {
 public:
  enum ActivationType {
    kNONE = 0,
    kRELU = 1,
    kRELU6 = 3,
    kTANH = 4,
    kSIGMOID = 6,
    kHARDSIGMOID = 31
  };

  static const char* OpName() { return "GRUCell"; }
  GRUCell(Graph* graph, uint32_t num_units,
          ActivationType activation = ActivationType::kTANH,
          ActivationType recurrent_activation = ActivationType::kSIGMOID,
          bool reset_after = true)
      : BuiltinOpOf(graph, {{"num_units", num_units},
                            {"activation", activation},
                            {"recurrent_activation", recurrent_activation},
                            {"reset_after", reset_after}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_GRUCELL_H_
