// Decides who does a call: the graph that is being made, the lazy record of the
// thread, or a device now.
#include "values/forward.h"

#include <utility>

#include "base/guarded.h"
#include "values/access.h"
#include "values/explanations.h"
#include "values/failure.h"
#include "values/graph_state.h"
#include "values/holder_node.h"
#include "values/lazy.h"
#include "values/mode_state.h"
#include "values/replay.h"
#include "values/tape_state.h"
#include "values/token_state.h"

namespace tim::values::internal {
namespace {

using States = std::vector<std::shared_ptr<ValueState>>;

States StatesOf(const std::vector<Value>& values) {
  States states;
  for (const Value& value : values) {
    states.push_back(IsAbsent(value) ? nullptr : StateOf(value));
  }
  return states;
}

Result<std::vector<runtime::NodeOperand>> OperandsOn(const States& inputs,
                                                     const DeviceState& device,
                                                     bool as_constants) {
  std::vector<runtime::NodeOperand> operands;
  for (const auto& input : inputs) {
    runtime::NodeOperand& operand = operands.emplace_back();
    operand.present = input != nullptr;
    if (!operand.present) continue;
    const TensorSpec spec = input->spec();
    operand.desc = spec.desc;
    operand.is_scalar = spec.is_scalar;
    operand.constant = input->constant();
    if (operand.constant != nullptr) continue;
    if (as_constants) {
      TIM_ASSIGN_OR_RETURN(operand.constant, input->Content());
      continue;
    }
    TIM_ASSIGN_OR_RETURN(const Place place, input->On(device));
    operand.memory = place.memory;
    operand.desc.layout = place.layout;
  }
  return operands;
}

Result<runtime::NodeRunner::Run> CallOn(const NodeState& node,
                                        const States& inputs,
                                        const DeviceState& device,
                                        bool as_constants) {
  TIM_ASSIGN_OR_RETURN(const auto operands,
                       OperandsOn(inputs, device, as_constants));
  return device.runner().Call({.name = node.op,
                               .schema = node.schema,
                               .composite = node.composite,
                               .attributes = &node.attributes,
                               .inputs = operands,
                               .outputs = node.outputs,
                               .operators = node.operators});
}

// A place without steps: the operator's result has the bytes of its operand.
bool IsSameBytes(const NodeState& node, const States& inputs) {
  if (node.schema == nullptr || inputs.size() != 1 ||
      inputs[0]->constant() != nullptr || node.outputs.size() != 1 ||
      !node.schema->is_view || node.schema->effects.ordered) {
    return false;
  }
  return inputs[0]->home().layout.dense();
}

// Views share the memory of their operand.
Result<std::shared_ptr<ValueState>> ViewOf(const NodeState& node,
                                           const States& inputs) {
  const TensorSpec spec = inputs[0]->spec();
  const runtime::NodeOperand operand{.desc = spec.desc,
                                     .is_scalar = spec.is_scalar};
  TIM_ASSIGN_OR_RETURN(const ir::Graph graph,
                       InferredGraphOf(node, {&operand, 1}));
  const std::vector<ir::NodeId> ids = graph.NodeIds();
  const ir::Value& output = graph.value(graph.outputs()[0]);
  if (ids.size() != 1 || !output.desc.shape.IsStatic()) {
    return std::shared_ptr<ValueState>();
  }
  const ir::TensorDesc* const in = &graph.value(graph.inputs()[0]).desc;
  const ir::TensorDesc* const out = &output.desc;
  const ir::NodeView view{graph.node(ids[0]), {&in, 1}, {&out, 1}};
  if (!node.schema->is_view(view)) return std::shared_ptr<ValueState>();
  return ValueState::Placed({output.desc, output.is_scalar}, inputs[0]->home());
}

// Holders may run anything themselves: they are called by the caller, not as
// steps, with which a device's work or a flush would be held.
Outputs ForwardAround(const NodeState& node, const std::vector<Value>& inputs,
                      const std::vector<Token>& after) {
  for (const Token& token : after) {
    if (!token.Wait()) return FailedOutputs(StatusOf(token));
  }
  auto values = node.composite != nullptr
                    ? Replay(node.composite->body, inputs, node.own)
                    : ReplayControl(node, inputs);
  if (!values.ok()) return FailedOutputs(values.status());
  if (node.ordered) values->pop_back();
  return MakeOutputs(*std::move(values));
}

}  // namespace

Outputs ForwardNow(const NodeState& node, const States& inputs,
                   const std::vector<Token>& after) {
  for (const auto& input : inputs) {
    if (input == nullptr) continue;
    const Status status = input->Force();
    if (!status.ok()) return FailedOutputs(status);
  }
  for (const Token& token : after) {
    if (!token.Wait()) return FailedOutputs(StatusOf(token));
  }
  const auto device = DeviceFor(inputs);
  if (!device.ok()) {
    return FailedOutputs(
        device.status().WithContext(StrCat("operator ", node.op)));
  }
  auto states = RunNow(node, inputs, **device);
  if (!states.ok()) return FailedOutputs(states.status());
  // Calls that follow may be of another device.
  if (HasOrderedEffects(node)) {
    for (const auto& state : *states) {
      const Status status = state->completion().Wait();
      if (!status.ok()) return FailedOutputs(status);
    }
  }
  std::vector<Value> values;
  for (auto& state : *states) values.push_back(MakeValue(std::move(state)));
  return MakeOutputs(std::move(values));
}

Outputs FailedOutputs(const Status& status) {
  auto state = std::make_shared<OutputsState>();
  state->status = InvalidArgument(Fail(status));
  state->signal = MakeToken({.status = state->status});
  return Access::Make<Outputs>(
      std::shared_ptr<const OutputsState>(std::move(state)));
}

Outputs MakeOutputs(std::vector<Value> values) {
  auto state = std::make_shared<OutputsState>();
  TokenState signal;
  for (const Value& value : values) signal.values.push_back(StateOf(value));
  state->values = std::move(values);
  state->signal = MakeToken(std::move(signal));
  return Access::Make<Outputs>(
      std::shared_ptr<const OutputsState>(std::move(state)));
}

Result<std::shared_ptr<DeviceState>> DeviceFor(const States& inputs) {
  const auto chosen = CurrentDevice();
  if (chosen != nullptr && !chosen->status().ok()) return chosen->status();
  std::shared_ptr<DeviceState> found = chosen;
  size_t holder = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    const auto device = inputs[i]->device();
    if (device == nullptr || device->is_host()) continue;
    if (found != nullptr && !found->is_host() && found != device) {
      if (device->is_lost()) {
        return DeviceLost("input ", i, " is on ", device->spec(),
                          ", which was lost; only values that are on the host, "
                          "too, outlive that");
      }
      return InvalidArgument(
          "input ", i, " is on ", device->spec(), ", ",
          found == chosen ? StrCat("and the scope is for ", found->spec())
                          : StrCat("input ", holder, " on ", found->spec()),
          "; Device::Move brings a value to another device");
    }
    if (found == nullptr) {
      found = device;
      holder = i;
    }
  }
  if (found == nullptr) found = DeviceState::Default();
  if (!found->status().ok()) return found->status();
  return found;
}

Result<States> RunNow(const NodeState& node, const States& inputs,
                      const DeviceState& device) {
  if (IsSameBytes(node, inputs)) {
    TIM_ASSIGN_OR_RETURN(auto view, ViewOf(node, inputs));
    if (view != nullptr) return States{std::move(view)};
  }
  auto run = CallOn(node, inputs, device, false);
  // Extents that depend on content: the operands are looked at.
  if (run.status().code() == StatusCode::kFailedPrecondition) {
    run = CallOn(node, inputs, device, true);
  }
  if (!run.ok()) return run.status();
  if (!run->host_steps.empty()) ExplainHostSteps(run->host_steps);
  States states;
  for (runtime::NodeResult& result : run->results) {
    states.push_back(ValueState::Placed(std::move(result)));
  }
  return states;
}

Outputs Forward(const std::shared_ptr<const NodeState>& node,
                const std::vector<Value>& inputs,
                const std::vector<Token>& after) {
  const bool holds = HasHolder(*node);
  if (holds && node->schema != nullptr && HolderOf(*node->schema) != nullptr) {
    return Hold(node, inputs, after);
  }
  const Status status = CheckOperands(*node, inputs, after);
  if (!status.ok()) return FailedOutputs(status);
  if (const auto graph = GraphFor(*node, inputs)) {
    return graph->Record(node, inputs, after);
  }
  if (holds) return ForwardAround(*node, inputs, after);
  const States states = StatesOf(inputs);
  Outputs outputs = CurrentMode() == Mode::kLazy
                        ? RecordLazy(node, states, after)
                        : ForwardNow(*node, states, after);
  RecordOnTapes(node, inputs, outputs);
  return outputs;
}

}  // namespace tim::values::internal
