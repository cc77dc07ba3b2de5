// UnidirectionalSequenceLstm: its operands, sizes and formulas.
//
// Every operand as float32 real values; every operation rounds to float32 in
// this order, and states stay float32 from step to step.  Gates i, f, c, o; P
// are the outputs (the units U without a projection):
//   v = sum over k of W x, then of A aux, then of R h, one running sum
//   v = v + p * c            peephole: i and f take c, o takes c'
//   v = (v - m) * (1 / sqrt(q + 1e-8)) * w
//                            layer normalisation: m, q mean and variance over U
//   v = v + ((b + rb) + forget_bias of f)
//   i = rho(v), or 1 - f without input gate; f = rho(v); g = act(v)
//   c' = f * c + i * g       within +-cell_clip where that is > 0
//   o = rho(v);  h' = o * act(c')
//   h' = (sum over u of Q h') + qb   projection, within +-proj_clip likewise
// Sums of products are in the order of the operands (ops/elements/
// product_sum.h); m = v0 + S(v - v0) / U and q = S((v - m)^2) / U, where S is
// kernels::LaneSum.  Activations are those of kernels/formulas.
#ifndef TIM_OPS_LSTM_LSTM_NODE_H_
#define TIM_OPS_LSTM_LSTM_NODE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/op_schema.h"
#include "kernels/requantize.h"

namespace tim::ops {

/// Where operands stand; those of gates in the order i, f, c, o.
struct LstmInput {
  static constexpr int kInput = 0;
  static constexpr int kState = 1;
  static constexpr int kCell = 2;
  static constexpr int kWeights = 3;
  static constexpr int kRecurrent = 7;
  static constexpr int kPeephole = 11;  ///< i, f, o.
  static constexpr int kBias = 14;
  static constexpr int kProjection = 18;
  static constexpr int kProjectionBias = 19;
  static constexpr int kNorm = 20;
  static constexpr int kAux = 24;
  static constexpr int kAuxWeights = 25;
  static constexpr int kRecurrentBias = 29;
  static constexpr int kCount = 33;
};
inline constexpr int kLstmOutputs = 3;

enum LstmGate { kInputGate, kForgetGate, kCellGate, kOutputGate, kLstmGates };

/// Values of the attributes.
enum class LstmActivation : uint8_t {
  kNone = 0,
  kRelu = 1,
  kRelu6 = 2,
  kTanh = 3,
  kSigmoid = 4,
  kHardSigmoid = 5,
  kRelu1 = 7,  ///< Of BidirectionalSequenceLstm alone.
};
float Activate(LstmActivation activation, float x);

/// Of both sequence operators.
std::vector<ir::AttributeSpec> LstmAttributes();

struct LstmNode {
  int64_t width = 0;      ///< I
  int64_t aux_width = 0;  ///< 0 where there is no aux input.
  int64_t units = 0;      ///< U
  int64_t outputs = 0;    ///< P
  int64_t batch = 0;
  int64_t steps = 0;
  bool time_major = false;
  bool sequences = false;
  bool input_gate = true;
  bool peephole = false;  ///< At least one.
  bool norm = false;
  bool projection = false;
  float cell_clip = 0;
  float proj_clip = 0;
  float forget_bias = 0;
  LstmActivation activation = LstmActivation::kTanh;
  LstmActivation gate_activation = LstmActivation::kSigmoid;

  /// Where a step of a batch item stands in tensors of sequences.
  int64_t step_stride() const { return time_major ? batch : 1; }
  int64_t batch_stride() const { return time_major ? 1 : steps; }
  int64_t rows() const { return batch * steps; }
};

/// Of static shapes that inference has accepted; null where absent.
LstmNode LstmNodeOf(const ir::AttributeMap& attributes,
                    std::span<const ir::TensorDesc* const> inputs);

/// Which operands fit each other; `descs` of inputs, null where absent.  Of
/// ranks and extents that may be unknown.
Status CheckLstmOperands(std::span<const ir::TensorDesc* const> inputs,
                         bool time_major);
/// Shapes of output, state and cell as far as they are known.
std::vector<ir::Shape> LstmOutputShapes(
    std::span<const ir::TensorDesc* const> inputs, bool time_major,
    bool sequences);

enum class LstmDirection : uint8_t { kForward, kBackward };
/// The reference; absent operands have null data.  Backward: from the last step
/// to the first, results where their steps stand.
void EvalLstm(const LstmNode& node, LstmDirection direction,
              std::span<const ir::ConstTensor> inputs,
              std::span<const ir::MutableTensor> outputs,
              kernels::RequantizePolicy policy);
/// Bytes that EvalLstm allocates.
int64_t LstmEvalBytes(const LstmNode& node);
/// Products, and 150 for each unit and step after them.
double LstmFlops(const LstmNode& node);
ir::ComputeEstimate EstimateLstm(const ir::NodeView& view);

}  // namespace tim::ops

#endif  // TIM_OPS_LSTM_LSTM_NODE_H_
