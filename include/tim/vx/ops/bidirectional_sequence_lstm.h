// A layer of long short-term memory over a sequence, from both ends.
#ifndef TIM_VX_OPS_BIDIRECTIONAL_SEQUENCE_LSTM_H_
#define TIM_VX_OPS_BIDIRECTIONAL_SEQUENCE_LSTM_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Composed of two layers UnidirectionalSequenceLstm, where the formulas, sizes
/// and types are: the forward one, and the backward one, which goes from the
/// last step to the first; index t of its sequence belongs to step t of the
/// input.
///
/// I inputs, U units, P outputs, J aux inputs, T steps, B batch.
/// Input 0: [I, T, B], or [I, B, T] where time_major.
/// Forward: 1-4, W of i, f, c, o: [I, U].  5-8, R of i, f, c, o: [P, U].
///   9-11, p of i, f, o: [U].  12-15, b of i, f, c, o: [U].  16, Q: [U, P].
///   17, qb: [P].
/// Backward: 18-34 likewise.
/// 35, 36: forward h [P, B] and c [U, B].  37, 38: backward h and c.
/// 39, aux input: [J, T, B] or [J, B, T].  40-43: forward A of i, f, c, o:
/// [J, U].  44-47: backward A.  Without any of these weights the aux input is
/// the input of the backward layer, in place of input 0.
/// 48-51, 52-55: forward and backward n of i, f, c, o: [U].
/// 56-59, 60-63: forward and backward rb of i, f, c, o: [U].
/// Required: 0, of each layer W and R of f, c, o.  The others may be
/// placeholders or left out.
/// Outputs, placeholders where they are not wanted: 0 forward output: [P, T, B]
/// or [P, B, T] where return_sequences, else
///   [P, B].  1, 2: last forward h [P, B] and c [U, B].
/// 3 backward output; 4, 5: backward h and c after step 0.  Where not
///   return_sequences, output 3 is the h of output 4.
///
/// - cell_clip, proj_clip, act_type, forget_bias, time_major,
///   recurrent_act_type, return_sequences: of both layers.
/// Errors: as of UnidirectionalSequenceLstm.
/// Other than in TIM-VX act_type, proj_clip, aux input and recurrent biases
/// count.
/// Source: NNAPI and TFLite BIDIRECTIONAL_SEQUENCE_LSTM; ONNX LSTM
/// (direction bidirectional).
class BidirectionalSequenceLstm
    : public BuiltinOpOf<BidirectionalSequenceLstm> {
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

  static const char* OpName() { return "BidirectionalSequenceLstm"; }

  BidirectionalSequenceLstm(
      Graph* graph, float cell_clip, float proj_clip, ActivationType act_type,
      float forget_bias, bool time_major = false,
      ActivationType recurrent_act_type = ActivationType::kSIGMOID,
      bool return_sequences = false)
      : BuiltinOpOf(graph,
                    {{"cell_clip", cell_clip},
                     {"proj_clip", proj_clip},
                     {"activation", OfLayer(act_type)},
                     {"forget_bias", forget_bias},
                     {"time_major", time_major},
                     {"recurrent_activation", OfLayer(recurrent_act_type)},
                     {"return_sequences", return_sequences}}) {}

 private:
  /// UnidirectionalSequenceLstm counts otherwise; it does not name 7, kRELU1.
  static int32_t OfLayer(ActivationType type) {
    switch (type) {
      case kRELU:
        return 1;
      case kRELU1:
        return 7;
      case kRELU6:
        return 2;
      case kTANH:
        return 3;
      case kSIGMOID:
        return 4;
      case kHARDSIGMOID:
        return 5;
      default:
        return 0;
    }
  }
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_BIDIRECTIONAL_SEQUENCE_LSTM_H_
