// BidirectionalSequenceLstm: two layers UnidirectionalSequenceLstm
// (lstm_node.h) over the sequence and over its reverse.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ir/op_registry.h"
#include "kernels/elements.h"
#include "ops/elements/sequence_axes.h"
#include "ops/elements/shapes.h"
#include "ops/lstm/lstm_node.h"

namespace tim::ops {
namespace {

using In = LstmInput;

constexpr int kInputs = 64;
constexpr int kAux = 39;
constexpr int kAuxWeights = 40;  // Of both layers.
constexpr int kOutputs = 2 * kLstmOutputs;

using Slots = std::array<int, In::kCount>;

// Where the operands of a layer are; `has(i)` says whether input i is bound.
template <typename Has>
Slots SlotsOf(LstmDirection direction, const Has& has) {
  bool linked = false;
  for (int i = 0; i < 8; ++i) linked |= has(kAuxWeights + i);
  // An aux input without weights is what the backward layer reads.
  const bool parallel = has(kAux) && !linked;
  const int at = direction == LstmDirection::kForward ? 0 : 1;
  Slots out;
  out[In::kInput] = parallel && at == 1 ? kAux : 0;
  out[In::kState] = 35 + 2 * at;
  out[In::kCell] = 36 + 2 * at;
  for (int i = In::kWeights; i < In::kNorm; ++i) {
    out[i] = i - In::kWeights + 1 + 17 * at;
  }
  out[In::kAux] = parallel ? kAuxWeights : kAux;  // Absent, like its weights.
  for (int gate = 0; gate < kLstmGates; ++gate) {
    out[In::kNorm + gate] = 48 + 4 * at + gate;
    out[In::kAuxWeights + gate] = kAuxWeights + 4 * at + gate;
    out[In::kRecurrentBias + gate] = 56 + 4 * at + gate;
  }
  return out;
}

constexpr LstmDirection kDirections[] = {LstmDirection::kForward,
                                         LstmDirection::kBackward};

int FirstOutput(LstmDirection direction) {
  return direction == LstmDirection::kForward ? 0 : kLstmOutputs;
}

// Those of a layer; `get(i)` is input i, a value that tests false where absent.
template <typename T, typename Get>
std::vector<T> Picked(LstmDirection direction, const Get& get) {
  const Slots slots =
      SlotsOf(direction, [&](int i) { return static_cast<bool>(get(i)); });
  std::vector<T> out;
  for (const int slot : slots) out.push_back(get(slot));
  return out;
}

std::vector<const ir::TensorDesc*> DescsOf(
    LstmDirection direction, std::span<const ir::TensorDesc* const> inputs) {
  return Picked<const ir::TensorDesc*>(direction, [&](int i) {
    return i < static_cast<int>(inputs.size()) ? inputs[i] : nullptr;
  });
}

void InferType(const std::vector<const ir::TensorDesc*>& inputs, int output,
               ir::TensorDesc* desc) {
  if (desc->type != ir::DataType::kUnknown) return;
  const ir::TensorDesc* from =
      output > 0 && inputs[output] != nullptr ? inputs[output] : inputs[0];
  desc->type = from->type;
  desc->quantization = from->quantization;
}

Status Infer(ir::InferContext& context) {
  const bool time_major = context.attributes().Bool("time_major");
  const bool sequences = context.attributes().Bool("return_sequences");
  std::vector<const ir::TensorDesc*> all;
  for (const auto& input : context.inputs) all.push_back(input.desc);
  for (const LstmDirection direction : kDirections) {
    const auto inputs = DescsOf(direction, all);
    const bool forward = direction == LstmDirection::kForward;
    TIM_RETURN_IF_ERROR(
        CheckLstmOperands(inputs, time_major)
            .WithContext(forward ? "the forward UnidirectionalSequenceLstm"
                                 : "the backward UnidirectionalSequenceLstm"));
    const auto shapes = LstmOutputShapes(inputs, time_major, sequences);
    for (int i = 0; i < kLstmOutputs; ++i) {
      const auto output = static_cast<size_t>(FirstOutput(direction) + i);
      if (output >= context.outputs.size()) break;
      InferType(inputs, i, &context.outputs[output].desc);
      context.outputs[output].desc.shape = shapes[i];
    }
  }
  return OkStatus();
}

Status Eval(const ir::EvalContext& context) {
  for (const LstmDirection direction : kDirections) {
    const auto inputs =
        Picked<ir::ConstTensor>(direction, [&](int i) -> ir::ConstTensor {
          return context.has_input(i) ? context.inputs[i] : ir::ConstTensor();
        });
    std::vector<const ir::TensorDesc*> descs;
    for (const ir::ConstTensor& input : inputs) descs.push_back(input.desc);
    const auto first = static_cast<size_t>(FirstOutput(direction));
    if (first >= context.outputs.size()) break;
    const size_t count =
        std::min<size_t>(kLstmOutputs, context.outputs.size() - first);
    EvalLstm(LstmNodeOf(context.attributes(), descs), direction, inputs,
             context.outputs.subspan(first, count),
             kernels::PolicyOf(context.attributes()));
  }
  return OkStatus();
}

class Body {
 public:
  Body(const ir::NodeView& view, const ir::OpRegistry& registry)
      : view_(view), registry_(registry) {
    for (const ir::TensorDesc* desc : view.inputs) {
      inputs_.push_back(desc == nullptr
                            ? ir::kNone
                            : graph_.AddValue(*desc, ir::Role::kInput));
      graph_.AddInput(inputs_.back());
    }
    outputs_.resize(view.outputs.size(), ir::kNone);
  }

  Status Add(LstmDirection direction) {
    const int first = FirstOutput(direction);
    bool wanted = false;
    for (int i = 0; i < kLstmOutputs; ++i) wanted |= Wants(first + i);
    if (!wanted) return OkStatus();
    const bool backward = direction == LstmDirection::kBackward;
    const bool sequences = view_.node.attributes.Bool("return_sequences");
    auto inputs = LayerInputs(direction);
    if (backward) {
      for (const int i : {In::kInput, In::kAux}) {
        if (inputs[i] == ir::kNone) continue;
        TIM_ASSIGN_OR_RETURN(
            inputs[i], Reversed(inputs[i], Like(graph_.value(inputs[i]).desc)));
      }
    }
    ir::Node layer;
    layer.name = "UnidirectionalSequenceLstm";
    layer.attributes = view_.node.attributes;
    layer.inputs = std::move(inputs);
    for (int i = 0; i < kLstmOutputs; ++i) {
      ir::ValueId value = ir::kNone;
      if (Wants(first + i)) {
        value = graph_.AddValue(Like(*view_.outputs[first + i]));
      } else if (i == 0) {
        value = graph_.AddValue(ir::TensorDesc());
      }
      layer.outputs.push_back(value);
      if (Wants(first + i)) outputs_[first + i] = value;
    }
    TIM_RETURN_IF_ERROR(AddNode(std::move(layer)));
    if (!backward || !sequences || !Wants(first)) return OkStatus();
    TIM_ASSIGN_OR_RETURN(
        outputs_[first],
        Reversed(outputs_[first], Like(*view_.outputs[first])));
    return OkStatus();
  }

  ir::Graph Take() {
    for (const ir::ValueId output : outputs_) graph_.AddOutput(output);
    return std::move(graph_);
  }

 private:
  bool Wants(int output) const {
    return output < static_cast<int>(view_.outputs.size()) &&
           view_.outputs[output] != nullptr;
  }

  static ir::TensorDesc Like(ir::TensorDesc desc) {
    desc.shape = ir::Shape();
    return desc;
  }

  std::vector<ir::ValueId> LayerInputs(LstmDirection direction) const {
    const auto get = [&](int i) {
      return i < static_cast<int>(inputs_.size()) ? inputs_[i] : ir::kNone;
    };
    std::vector<ir::ValueId> out;
    for (const int slot :
         SlotsOf(direction, [&](int i) { return get(i) != ir::kNone; })) {
      out.push_back(get(slot));
    }
    return out;
  }

  Result<ir::ValueId> Reversed(ir::ValueId value, ir::TensorDesc result) {
    ir::Node node;
    node.name = "Reverse";
    node.attributes.Set(
        "axis",
        std::vector<int64_t>{view_.node.attributes.Bool("time_major") ? 2 : 1});
    node.inputs = {value};
    node.outputs = {graph_.AddValue(std::move(result))};
    const ir::ValueId output = node.outputs[0];
    TIM_RETURN_IF_ERROR(AddNode(std::move(node)));
    return output;
  }

  Status AddNode(ir::Node node) {
    node.schema = registry_.Find(StrCat("tim.", node.name));
    if (node.schema == nullptr) {
      return TIM_INTERNAL("tim.", node.name, " is not registered");
    }
    graph_.AddNode(std::move(node));
    return OkStatus();
  }

  const ir::NodeView& view_;
  const ir::OpRegistry& registry_;
  ir::Graph graph_{"BidirectionalSequenceLstm"};
  std::vector<ir::ValueId> inputs_;
  std::vector<ir::ValueId> outputs_;
};

Result<ir::Graph> Decompose(const ir::NodeView& view,
                            const ir::OpRegistry& registry) {
  Body body(view, registry);
  for (const LstmDirection direction : kDirections) {
    TIM_RETURN_IF_ERROR(body.Add(direction));
  }
  return body.Take();
}

ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  ir::ComputeEstimate out = {.bytes_read = InputBytes(view),
                             .bytes_written = OutputBytes(view)};
  for (const LstmDirection direction : kDirections) {
    out.flops += LstmFlops(
        LstmNodeOf(view.node.attributes, DescsOf(direction, view.inputs)));
  }
  return out;
}

int64_t Memory(const ir::NodeView& view) {
  return LstmEvalBytes(LstmNodeOf(
      view.node.attributes, DescsOf(LstmDirection::kForward, view.inputs)));
}

}  // namespace

TIM_OPERATOR(bidirectional_lstm) {
  registry.Add(ir::OpSchema{
      .name = "BidirectionalSequenceLstm",
      .inputs = {1, kInputs},
      .outputs = {0, kOutputs},
      .attributes = LstmAttributes(),
      .infer_shapes = Infer,
      .eval = Eval,
      .memory_estimate = Memory,
      .compute_estimate = Estimate,
      .permute_rule = SwapBatchAndSteps({0, kAux}, {0, kLstmOutputs}),
      .decompose = Decompose});
}

}  // namespace tim::ops
