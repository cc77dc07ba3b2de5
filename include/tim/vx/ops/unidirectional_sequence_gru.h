// UnidirectionalSequenceGRU: gated recurrent units over a sequence.
#ifndef TIM_VX_OPS_UNIDIRECTIONAL_SEQUENCE_GRU_H_
#define TIM_VX_OPS_UNIDIRECTIONAL_SEQUENCE_GRU_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// GRUCell for each step of a sequence, the state of one step being h of the
/// next; between steps it is FLOAT32.
///
/// Input 0, x: [I, B, T] where time_major, otherwise [I, T, B].
/// Input 1, the state before the first step: [U, B], optional; zeros.
/// Inputs 2 to 13: as GRUCell's; 8 to 13 are optional.
/// Output 0: the states after every step, [U, B, T] or [U, T, B], where
///        return_sequences, otherwise that after the last one, [U, B].
/// Output 1, the state after the last step (optional): [U, B].
/// Types: float types and integers, quantized or not, each tensor its own; what
/// is computed is FLOAT32.
///
/// - num_units: U.
/// - activation, recurrent_activation, reset_after: as GRUCell's.
/// Errors: Compile() fails where extents do not fit and on other types.
/// Source: Keras GRU; ONNX GRU-14 (forward), whose linear_before_reset is
/// reset_after; gates in the order z, r, h.
class UnidirectionalSequenceGRU
    : public BuiltinOpOf<UnidirectionalSequenceGRU> {
 public:
  enum ActivationType {
    kNONE = 0,
    kRELU = 1,
    kRELU6 = 3,
    kTANH = 4,
    kSIGMOID = 6,
    kHARDSIGMOID = 31
  };

  static const char* OpName() { return "UnidirectionalSequenceGRU"; }
  UnidirectionalSequenceGRU(
      Graph* graph, uint32_t num_units,
      ActivationType activation = ActivationType::kTANH,
      ActivationType recurrent_activation = ActivationType::kSIGMOID,
      bool reset_after = true, bool return_sequences = false,
      bool time_major = true)
      : BuiltinOpOf(graph, {{"num_units", num_units},
                            {"activation", activation},
                            {"recurrent_activation", recurrent_activation},
                            {"reset_after", reset_after},
                            {"return_sequences", return_sequences},
                            {"time_major", time_major}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_UNIDIRECTIONAL_SEQUENCE_GRU_H_
