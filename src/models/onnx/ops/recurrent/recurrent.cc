// LSTM, GRU and RNN of ONNX by the operators of sequences, a layer for each
// direction.
#include "models/onnx/ops/recurrent/recurrent.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "models/onnx/operator_families.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/concat.h"
#include "tim/vx/ops/unidirectional_sequence_gru.h"
#include "tim/vx/ops/unidirectional_sequence_lstm.h"
#include "tim/vx/ops/unidirectional_sequence_rnn.h"

namespace tim::models::onnx {
namespace {

namespace ops = vx::ops;

/// Extents of a layer's sequence.
Dims SequenceDims(const RecurrentLayer& layer) {
  return layer.time_major ? Dims{layer.steps, layer.batch, layer.units}
                          : Dims{layer.batch, layer.steps, layer.units};
}

/// The member of Op's enumeration for `activation`; none where it has none.
template <typename Op>
std::optional<typename Op::ActivationType> TypeOf(
    const Activation& activation) {
  switch (activation.kind) {
    case ActivationKind::kRelu:
      return Op::kRELU;
    case ActivationKind::kTanh:
      return Op::kTANH;
    case ActivationKind::kSigmoid:
      return Op::kSIGMOID;
    case ActivationKind::kHardSigmoid:
      if (activation.alpha != 0.2f || activation.beta != 0.5f) return {};
      return Op::kHARDSIGMOID;
    default:
      return {};
  }
}

/// The gates of `value`, {G * H, ...}; absent ones where it is absent.
Result<std::vector<Value>> Gates(Node& node, const RecurrentLayer& layer,
                                 const Value& value, int count, Dims dims) {
  if (value.IsAbsent()) return std::vector<Value>(count);
  dims.insert(dims.begin(), layer.units);
  return Parts(node, value, count, dims);
}

Result<LayerResult> LstmLayer(Node& node, const RecurrentLayer& layer) {
  using Op = ops::UnidirectionalSequenceLstm;
  const auto recurrent = TypeOf<Op>(layer.activations[0]);
  const auto activation = TypeOf<Op>(layer.activations[1]);
  if (!recurrent || !activation ||
      !(layer.activations[1] == layer.activations[2]) || layer.IsUnusual() ||
      !layer.coded_w.codes.IsAbsent()) {
    return UnrolledLayer(node, layer);
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<Value> w,
                       Gates(node, layer, layer.w, 4, {layer.x.dims[2]}));
  TIM_ASSIGN_OR_RETURN(const std::vector<Value> r,
                       Gates(node, layer, layer.r, 4, {layer.units}));
  TIM_ASSIGN_OR_RETURN(const std::vector<Value> b,
                       Gates(node, layer, layer.b, 8, {}));
  TIM_ASSIGN_OR_RETURN(const std::vector<Value> p,
                       Gates(node, layer, layer.p, 3, {}));
  // ONNX has i, o, f, c, the operator i, f, c, o.
  std::vector<Value> operands(33);
  operands[0] = layer.x;
  operands[1] = layer.h;
  operands[2] = layer.c;
  constexpr size_t kOrder[] = {0, 2, 3, 1};
  for (size_t gate = 0; gate < 4; ++gate) {
    operands[3 + gate] = w[kOrder[gate]];
    operands[7 + gate] = r[kOrder[gate]];
    operands[14 + gate] = b[kOrder[gate]];
    operands[29 + gate] = b[4 + kOrder[gate]];
  }
  operands[11] = p[0];
  operands[12] = p[2];
  operands[13] = p[1];
  while (operands.back().IsAbsent()) operands.pop_back();
  const vx::DataType type = layer.x.type;
  const Wanted state = Wanted::Of(type, {layer.batch, layer.units});
  const Wanted sequence =
      layer.wants_sequence ? Wanted::Of(type, SequenceDims(layer)) : state;
  TIM_ASSIGN_OR_RETURN(
      std::vector<Value> made,
      node.builder->AddAll<Op>(operands, {sequence, state, state}, 0.0f, 0.0f,
                               *activation, 0.0f, layer.time_major, *recurrent,
                               layer.wants_sequence));
  return LayerResult{layer.wants_sequence ? made[0] : Value(), made[1],
                     made[2]};
}

Result<LayerResult> GruLayer(Node& node, const RecurrentLayer& layer) {
  using Op = ops::UnidirectionalSequenceGRU;
  const auto recurrent = TypeOf<Op>(layer.activations[0]);
  const auto activation = TypeOf<Op>(layer.activations[1]);
  if (!recurrent || !activation || layer.IsUnusual()) {
    return UnrolledLayer(node, layer);
  }
  std::vector<Value> operands = {layer.x, layer.h};
  const auto add = [&](const Value& value, int count,
                       const Dims& dims) -> Status {
    TIM_ASSIGN_OR_RETURN(const std::vector<Value> gates,
                         Gates(node, layer, value, count, dims));
    operands.insert(operands.end(), gates.begin(), gates.end());
    return OkStatus();
  };
  TIM_RETURN_IF_ERROR(add(layer.w, 3, {layer.x.dims[2]}));
  TIM_RETURN_IF_ERROR(add(layer.r, 3, {layer.units}));
  if (!layer.b.IsAbsent()) TIM_RETURN_IF_ERROR(add(layer.b, 6, {}));
  const vx::DataType type = layer.x.type;
  const Wanted state = Wanted::Of(type, {layer.batch, layer.units});
  const Wanted sequence =
      layer.wants_sequence ? Wanted::Of(type, SequenceDims(layer)) : state;
  TIM_ASSIGN_OR_RETURN(
      std::vector<Value> made,
      node.builder->AddAll<Op>(operands, {sequence, state},
                               static_cast<uint32_t>(layer.units), *activation,
                               *recurrent, layer.resets_after,
                               layer.wants_sequence, layer.time_major));
  return LayerResult{layer.wants_sequence ? made[0] : Value(), made[1], {}};
}

Result<LayerResult> RnnLayer(Node& node, const RecurrentLayer& layer) {
  using Op = ops::UnidirectionalSequenceRnn;
  const auto activation = TypeOf<Op>(layer.activations[0]);
  if (!activation || layer.IsUnusual()) return UnrolledLayer(node, layer);
  TIM_ASSIGN_OR_RETURN(const std::vector<Value> b,
                       Gates(node, layer, layer.b, 2, {}));
  const vx::DataType type = layer.x.type;
  TIM_ASSIGN_OR_RETURN(
      std::vector<Value> made,
      node.builder->AddAll<Op>({layer.x, layer.w, layer.r, b[0], b[1], layer.h},
                               {Wanted::Of(type, {layer.batch, layer.units}),
                                Wanted::Of(type, SequenceDims(layer))},
                               *activation, layer.time_major));
  return LayerResult{made[1], made[0], {}};
}

/// The results of all directions as one, with directions along `axis`.
Result<Value> Joined(Node& node, std::vector<Value> values, int axis) {
  for (Value& value : values) {
    Dims dims = value.dims;
    dims.insert(dims.begin() + axis, 1);
    TIM_ASSIGN_OR_RETURN(value, node.builder->Reshape(value, dims));
  }
  if (values.size() == 1) return values[0];
  Dims dims = values[0].dims;
  dims[axis] = static_cast<int64_t>(values.size());
  const auto along = static_cast<uint32_t>(GraphAxis(axis, values[0].rank()));
  const vx::DataType type = values[0].type;
  return node.builder->Add<ops::Concat>(values, Wanted::Of(type, dims), along,
                                        static_cast<int>(values.size()));
}

using LayerFunction = Result<LayerResult> (*)(Node& node,
                                              const RecurrentLayer& layer);

/// All directions, and the outputs Y, Y_h and Y_c.
Status AllLayers(Node& node, const RecurrentNode& whole, LayerFunction make) {
  std::vector<Value> y;
  std::vector<Value> h;
  std::vector<Value> c;
  for (int index = 0; index < whole.directions; ++index) {
    const bool is_reverse = whole.is_reverse || index == 1;
    TIM_ASSIGN_OR_RETURN(const RecurrentLayer layer,
                         LayerOf(node, whole, index, is_reverse));
    TIM_ASSIGN_OR_RETURN(LayerResult made, make(node, layer));
    if (layer.wants_sequence && is_reverse) {
      TIM_ASSIGN_OR_RETURN(made.y, ReversedSteps(node, layer, made.y));
    }
    y.push_back(made.y);
    h.push_back(made.h);
    c.push_back(made.c);
  }
  // Layout 0: {T, D, B, H} and {D, B, H}; 1: {B, T, D, H} and {B, D, H}.
  const bool time_major = whole.layer.time_major;
  if (node.Wants(0)) {
    TIM_RETURN_IF_ERROR(node.SetOutput(0, Joined(node, y, time_major ? 1 : 2)));
  }
  if (node.Wants(1)) {
    TIM_RETURN_IF_ERROR(node.SetOutput(1, Joined(node, h, time_major ? 0 : 1)));
  }
  if (!node.Wants(2) || whole.layer.gates != 4) return OkStatus();
  return node.SetOutput(2, Joined(node, c, time_major ? 0 : 1));
}

Status Lstm(Node& node) {
  using enum ActivationKind;
  TIM_ASSIGN_OR_RETURN(const RecurrentNode whole,
                       ReadRecurrent(node, 4, {kSigmoid, kTanh, kTanh}));
  return AllLayers(node, whole, LstmLayer);
}

Status Gru(Node& node) {
  using enum ActivationKind;
  TIM_ASSIGN_OR_RETURN(const RecurrentNode whole,
                       ReadRecurrent(node, 3, {kSigmoid, kTanh}));
  return AllLayers(node, whole, GruLayer);
}

Status Rnn(Node& node) {
  TIM_ASSIGN_OR_RETURN(const RecurrentNode whole,
                       ReadRecurrent(node, 1, {ActivationKind::kTanh}));
  return AllLayers(node, whole, RnnLayer);
}

}  // namespace

void AddRecurrent(OperatorTable* table) {
  table->Add("", "LSTM", 7, Lstm);
  table->Add("", "GRU", 7, Gru);
  table->Add("", "RNN", 7, Rnn);
  table->Add("com.microsoft", "DynamicQuantizeLSTM", 1, Lstm);
}

}  // namespace tim::models::onnx
