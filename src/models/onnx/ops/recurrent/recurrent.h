// Layers of LSTM, GRU and RNN, a direction at a time.
#ifndef TIM_MODELS_ONNX_OPS_RECURRENT_RECURRENT_H_
#define TIM_MODELS_ONNX_OPS_RECURRENT_RECURRENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "models/build/value.h"
#include "models/onnx/node.h"
#include "models/onnx/ops/products/product.h"

namespace tim::models::onnx {

/// A function of gates, by ONNX's names.
enum class ActivationKind {
  kRelu,
  kTanh,
  kSigmoid,
  kAffine,
  kLeakyRelu,
  kThresholdedRelu,
  kScaledTanh,
  kHardSigmoid,
  kElu,
  kSoftsign,
  kSoftplus,
};

struct Activation {
  ActivationKind kind = ActivationKind::kTanh;
  float alpha = 0;
  float beta = 0;
  bool operator==(const Activation&) const = default;
};

/// The functions of all directions, `defaults` for each where the node names
/// none.
Result<std::vector<Activation>> ActivationsOf(
    const Node& node, const std::vector<ActivationKind>& defaults,
    int directions);

/// `activation` of `x`, as `x`'s type.
Result<Value> Activated(Node& node, const Activation& activation,
                        const Value& x);

/// One direction: T steps, batch B, I inputs, H units, G gates.
struct RecurrentLayer {
  Value x;  ///< {T, B, I}, or {B, T, I}, in the order of the steps.
  bool time_major = true;
  int64_t steps = 0;
  int64_t batch = 0;
  int64_t units = 0;
  int gates = 1;
  Value w;                    ///< {G * H, I}.
  Value r;                    ///< {G * H, H}.
  CodedMatrix coded_w;        ///< {I, G * H}, in place of w; may be absent.
  CodedMatrix coded_r;        ///< {H, G * H}, in place of r; with coded_w.
  Value b;                    ///< {2 * G * H}, those of w first; may be absent.
  Value h;                    ///< {B, H}; may be absent.
  Value c;                    ///< {B, H}; may be absent.
  Value p;                    ///< {3 * H}; may be absent.
  float clip = 0;             /// Limit of what activations are given; 0: none.
  bool resets_after = false;  ///< GRU's linear_before_reset.
  bool couples = false;       ///< LSTM's input_forget: f is 1 - i.
  Value lengths;              ///< INT32 {B}; absent: all have T steps.
  bool is_reverse = false;    ///< The last step of x comes first.
  bool wants_sequence = true;
  std::vector<Activation> activations;

  /// Whether operators of sequences cannot say it, whatever the activations.
  bool IsUnusual() const { return clip > 0 || couples || !lengths.IsAbsent(); }
};

/// All directions of a node, checked.
struct RecurrentNode {
  RecurrentLayer layer;  ///< Operands are those of all directions.
  int directions = 1;
  bool is_reverse = false;  ///< The direction, where it is one.
  /// Activations of one direction.
  size_t activations = 1;
};

/// A node whose layers have `gates` gates, checked: its extents fit each other.
Result<RecurrentNode> ReadRecurrent(
    Node& node, int gates, const std::vector<ActivationKind>& defaults);
/// Direction `index` of the node, whose steps are in the order of x, or, where
/// `is_reverse`, in the other one.
Result<RecurrentLayer> LayerOf(Node& node, const RecurrentNode& whole,
                               int index, bool is_reverse);
/// `x`, of extents as the layer's sequences, in the other order of its steps.
Result<Value> ReversedSteps(Node& node, const RecurrentLayer& layer,
                            const Value& x);

struct LayerResult {
  Value y;  ///< {T, B, H}, or {B, T, H}; absent where it is not wanted.
  Value h;  ///< {B, H}.
  Value c;  ///< {B, H}; of LSTM.
};

/// Axis 0 of `value` in `count` parts, each with `dims`.  Parts of a constant
/// share its memory.
Result<std::vector<Value>> Parts(Node& node, const Value& value, int64_t count,
                                 const Dims& dims);

/// The operands 1, 2 and 8 to 11 of DynamicQuantizeLSTM become coded_w and
/// coded_r of all directions, with codes {D, ...} and scales {D} or {D, G * H}.
Status ReadCodes(Node& node, RecurrentNode* made);
/// coded_w and coded_r of direction `index` of `whole`.
Status TakeCodes(Node& node, const RecurrentNode& whole, int index,
                 RecurrentLayer* layer);

/// A layer as an operation for each gate and step, for what the operators of
/// sequences cannot say.  Refused above kMostUnrolledSteps.
Result<LayerResult> UnrolledLayer(Node& node, const RecurrentLayer& layer);
inline constexpr int64_t kMostUnrolledSteps = 256;

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_RECURRENT_RECURRENT_H_
