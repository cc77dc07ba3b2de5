// UnidirectionalSequenceRnn: a simple recurrent layer over a sequence.
#ifndef TIM_VX_OPS_UNIDIRECTIONAL_SEQUENCE_RNN_H_
#define TIM_VX_OPS_UNIDIRECTIONAL_SEQUENCE_RNN_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// h(t) = f(W x(t) + b + R h(t - 1) + c) for each step of a sequence; between
/// steps h is FLOAT32.
///
/// Input 0, x: [I, B, T] where time_major, otherwise [I, T, B].
/// Input 1, W: [I, U].  Input 2, R: [U, U].
/// Inputs 3, b, and 4, c: [U], optional.
/// Input 5, the state h before the first step: [U, B], optional; zeros.
/// Output 0, the state after the last step: [U, B]; a placeholder where it is
///        not wanted.
/// Output 1, h of every step: [U, B, T] or [U, T, B].
/// Types: float types and integers, quantized or not, each tensor its own; what
/// is computed is FLOAT32.
///
/// - act_type: f.  kNONE is tanh, as TIM-VX's is, with a warning; kRELU1 is x
///        within -1 and 1, kHARDSIGMOID is 0.2 x + 0.5 within 0 and 1.
/// Errors: Compile() fails where extents do not fit and on other types.
/// Source: TFLite UNIDIRECTIONAL_SEQUENCE_RNN (there the sequence is output 0);
/// ONNX RNN-14, forward.
class UnidirectionalSequenceRnn
    : public BuiltinOpOf<UnidirectionalSequenceRnn> {
 public:
  enum ActivationType {
    kNONE = 0,
    kRELU = 1,
    kRELU1 = 2,
    kRELU6 = 3,
    kTANH = 4,
    kSIGMOID = 6,
    kHARDSIGMOID = 31
  };

  static const char* OpName() { return "UnidirectionalSequenceRnn"; }
  UnidirectionalSequenceRnn(Graph* graph, ActivationType act_type,
                            bool time_major = false)
      : BuiltinOpOf(graph,
                    {{"activation", act_type}, {"time_major", time_major}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_UNIDIRECTIONAL_SEQUENCE_RNN_H_
