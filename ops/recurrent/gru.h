// GRUCell and UnidirectionalSequenceGRU: their operands.
//   z = f((Wz x + bz) + (Uz h + cz)),  r = f((Wr x + br) + (Ur h + cr))
//   n = g((Wh x + bh) + r * (Uh h + ch)), where reset_after;
//   n = g((Wh x + bh) + (Uh (r * h) + ch)) else
//   h' = (1 - z) * n + z * h
// Order of operations: ops/recurrent/sequence.h.
#ifndef TIM_OPS_RECURRENT_GRU_H_
#define TIM_OPS_RECURRENT_GRU_H_

#include "ir/op_schema.h"
#include "ops/recurrent/sequence.h"

namespace tim::ops {

/// Where operands stand; those of gates in the order z, r, h.
struct GruInput {
  static constexpr int kInput = 0;
  static constexpr int kState = 1;
  static constexpr int kWeights = 2;
  static constexpr int kRecurrent = 5;
  static constexpr int kBias = 8;
  static constexpr int kRecurrentBias = 11;
  static constexpr int kCount = 14;
};
enum GruGate { kUpdateGate, kResetGate, kNewGate, kGruGates };

inline constexpr int kGruOutput = 0;
inline constexpr int kGruState = 1;

/// What the attributes of either operator say.
struct GruOptions {
  const StepFunction* activation = nullptr;            ///< g
  const StepFunction* recurrent_activation = nullptr;  ///< f
  bool reset_after = true;
  bool every_step = false;  ///< Output 0 has all steps.
  bool time_major = false;
};
GruOptions GruOptionsOf(const ir::OpSchema& schema,
                        const ir::AttributeMap& attributes);

}  // namespace tim::ops

#endif  // TIM_OPS_RECURRENT_GRU_H_
