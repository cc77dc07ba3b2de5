// A layer of long short-term memory over a sequence.
#ifndef TIM_VX_OPS_UNIDIRECTIONAL_SEQUENCE_LSTM_H_
#define TIM_VX_OPS_UNIDIRECTIONAL_SEQUENCE_LSTM_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Step by step, with rho the recurrent activation, act the activation, h and c
/// the states, x and a the step's input and aux input:
///   i  = rho(W_i x + A_i a + R_i h + p_i * c + b_i + rb_i)
///   f  = rho(W_f x + A_f a + R_f h + p_f * c + b_f + rb_f + forget_bias)
///   g  = act(W_c x + A_c a + R_c h + b_c + rb_c)
///   c' = f * c + i * g, limited to +-cell_clip where that is > 0
///   o  = rho(W_o x + A_o a + R_o h + p_o * c' + b_o + rb_o)
///   h' = o * act(c')
///   h' = Q h' + qb with a projection, limited to +-proj_clip where that is > 0
/// Without weights of the input gate i = 1 - f.  With layer-norm weights n the
/// sum before the biases becomes (sum - mean) / sqrt(variance + 1e-8) * n, mean
/// and variance over the units.  States are float32 from step to step.
///
/// I inputs, U units, P outputs (U without a projection), T steps, B batch.
/// Input 0: [I, T, B], or [I, B, T] where time_major.
/// 1, h: [P, B].  2, c: [U, B].  Absent: zeros.
/// 3-6, W of i, f, c, o: [I, U].  7-10, R of i, f, c, o: [P, U].
/// 11-13, p of i, f, o: [U].  14-17, b of i, f, c, o: [U].
/// 18, Q: [U, P].  19, qb: [P].  20-23, n of i, f, c, o: [U].
/// 24, aux input: [J, T, B] or [J, B, T].  25-28, A of i, f, c, o: [J, U].
/// 29-32, rb of i, f, c, o: [U].
/// Required: 0, 4-6, 8-10.  The others may be placeholders or left out: weights
/// of the input gate, layer-norm weights, aux input with its weights each as a
/// whole.
/// Output 0: [P, T, B] or [P, B, T] where return_sequences, else the last
/// step's h', [P, B].  1, h: [P, B].  2, c: [U, B].  1 and 2 may be absent.
/// Types: FLOAT32, FLOAT16 or quantized, each tensor its own (weights may be
/// quantized per channel); all arithmetic is FLOAT32.
///
/// - cell_clip, proj_clip: see above.
/// - act_type: act; kNONE is the identity.
/// - forget_bias: see above.
/// - time_major: which of T and B is the slower one.
/// - recurrent_act_type: rho; kNONE is the sigmoid, as in TIM-VX.
///        kHARDSIGMOID is min(max(0.2 * x + 0.5, 0), 1).
/// - return_sequences: see above.
/// Errors: Compile() fails where extents do not fit, where weights are bound in
/// part and on other types.
/// Other than in TIM-VX act_type, proj_clip, aux input and recurrent biases
/// count, and p_o takes c', as in NNAPI.
/// Source: NNAPI and TFLite UNIDIRECTIONAL_SEQUENCE_LSTM; ONNX LSTM (gates in
/// the order i, o, f, c there).
class UnidirectionalSequenceLstm
    : public BuiltinOpOf<UnidirectionalSequenceLstm> {
 public:
  enum ActivationType {
    kNONE = 0,
    kRELU = 1,
    kRELU6 = 2,
    kTANH = 3,
    kSIGMOID = 4,
    kHARDSIGMOID = 5,
    kCOUNT
  };

  static const char* OpName() { return "UnidirectionalSequenceLstm"; }

  UnidirectionalSequenceLstm(
      Graph* graph, float cell_clip, float proj_clip, ActivationType act_type,
      float forget_bias, bool time_major = false,
      ActivationType recurrent_act_type = ActivationType::kSIGMOID,
      bool return_sequences = false)
      : BuiltinOpOf(graph, {{"cell_clip", cell_clip},
                            {"proj_clip", proj_clip},
                            {"activation", act_type},
                            {"forget_bias", forget_bias},
                            {"time_major", time_major},
                            {"recurrent_activation", recurrent_act_type},
                            {"return_sequences", return_sequences}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_UNIDIRECTIONAL_SEQUENCE_LSTM_H_
