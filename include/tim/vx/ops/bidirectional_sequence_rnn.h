// BidirectionalSequenceRnn: two simple recurrent layers over a sequence.
#ifndef TIM_VX_OPS_BIDIRECTIONAL_SEQUENCE_RNN_H_
#define TIM_VX_OPS_BIDIRECTIONAL_SEQUENCE_RNN_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// UnidirectionalSequenceRnn from the first step to the last (forward) and,
/// with weights of its own, from the last to the first (backward):
///   h(t) = f(W x(t) + b + R h(before) + c [+ A aux(t)])
///
/// Input 0, x: [I, B, T] where time_major, otherwise [I, T, B].
/// Inputs 1 to 5, forward: W [I, U], R [U, U], b [U], c [U] and the first state
///        [U, B]; b, c and the state are optional.
/// Inputs 6 to 10, backward: the same.
/// Input 11, aux: [J, B, T] or [J, T, B], and inputs 12 and 13, A forward and
///        backward: [J, U]; all three or none.
/// Outputs 0 and 1, the last states forward and backward (backward: that of the
///        first step): [U, B]; placeholders where they are not wanted.
/// Outputs 2 and 3, h of every step forward and backward: [U, B, T] or
///        [U, T, B], each at the place of its step of x.
///        With merge_outputs output 2 is [2 U, ...], the forward half first,
///        and output 3 is not bound.
/// Types: float types and integers, quantized or not, each tensor its own; what
/// is computed is FLOAT32.
///
/// - act_type: f, as UnidirectionalSequenceRnn's.
/// Errors: Compile() fails where extents do not fit and on other types.
/// Source: NNAPI and TFLite BIDIRECTIONAL_SEQUENCE_RNN (there sequences come
/// first); ONNX RNN-14, bidirectional.
class BidirectionalSequenceRnn : public BuiltinOpOf<BidirectionalSequenceRnn> {
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

  static const char* OpName() { return "BidirectionalSequenceRnn"; }
  BidirectionalSequenceRnn(Graph* graph, ActivationType act_type,
                           bool time_major = false, bool merge_outputs = false)
      : BuiltinOpOf(graph, {{"activation", act_type},
                            {"time_major", time_major},
                            {"merge_outputs", merge_outputs}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_BIDIRECTIONAL_SEQUENCE_RNN_H_
