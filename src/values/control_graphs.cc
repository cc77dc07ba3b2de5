// Captures the parts of decisions and loops, and gives them the same inputs.
#include "values/control_graphs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "ir/control.h"
#include "ir/live_copy.h"
#include "values/access.h"
#include "values/forward.h"
#include "values/graph_state.h"
#include "values/node_state.h"

namespace tim::values::internal {
namespace {

using Part = std::shared_ptr<GraphState>;

// The part as a graph of `inputs`.
Result<Part> Capture(const char* name, const Function& function,
                     const std::vector<Value>& inputs) {
  if (!function) return InvalidArgument("the ", name, " is no function");
  auto part = std::make_shared<GraphState>(name);
  std::vector<Value> symbols;
  for (const Value& input : inputs) {
    const TensorSpec spec = StateOf(input)->spec();
    symbols.push_back(part->AddInput(ToSpec(spec.desc, spec.is_scalar), ""));
  }
  {
    const CaptureScope scope(part);
    for (const Value& value : function(symbols)) part->AddOutput(value);
  }
  TIM_RETURN_IF_ERROR(part->status());
  return part;
}

/// A variable that parts read or assign.
struct PartVariable {
  std::shared_ptr<VariableState> variable;
  bool written = false;
};
using PartVariables = std::vector<PartVariable>;

PartVariables VariablesOf(const GraphState& one, const GraphState& other) {
  PartVariables variables;
  for (const GraphState* part : {&one, &other}) {
    for (const GraphState::State& state : part->states()) {
      const auto known = std::find_if(
          variables.begin(), variables.end(),
          [&](const auto& at) { return at.variable == state.variable; });
      if (known == variables.end()) {
        variables.push_back({state.variable, state.written()});
      } else {
        known->written = known->written || state.written();
      }
    }
  }
  return variables;
}

/// Values that a part has besides its own: inputs for those of outside that
/// others need, before and behind its own ones.
struct Outside {
  std::vector<Value> before = {};
  std::vector<Value> after = {};
};

enum class VariableOutputs { kNone, kWritten, kAll };

/// What the parts of one decision or loop have in common.
struct Shared {
  PartVariables variables;
  OwnSchemas own;
  bool ordered = false;  ///< Effects of one of them are.
};

Shared SharedBy(const GraphState& one, const GraphState& other) {
  Shared shared{.variables = VariablesOf(one, other),
                .own = one.own(),
                .ordered = one.ordered() || other.ordered()};
  shared.own.insert(shared.own.end(), other.own().begin(), other.own().end());
  return shared;
}

// The part's graph.  Inputs: its own, the variables, values of outside, and the
// order; outputs: its own, what variables have then, of a body values of
// outside unchanged, and the order.
ir::Graph GraphOf(const GraphState& part, const Shared& shared,
                  VariableOutputs kept, const Outside& outside) {
  ir::Graph graph = part.Part();
  const std::vector<ir::ValueId> known = graph.inputs();
  const size_t closed = part.input_count() + part.ClosedOver().size();
  std::vector<ir::ValueId> inputs(known.begin(),
                                  known.begin() + part.input_count());
  std::vector<ir::ValueId> outputs(
      graph.outputs().begin(), graph.outputs().begin() + part.output_count());
  const auto add = [&](const TensorSpec& spec) {
    inputs.push_back(graph.AddValue(spec.desc, ir::Role::kInput, "unused"));
    graph.value(inputs.back()).is_scalar = spec.is_scalar;
  };
  for (const PartVariable& at : shared.variables) {
    size_t number = 0;
    size_t output = part.output_count();
    const auto& states = part.states();
    while (number < states.size() && states[number].variable != at.variable) {
      if (states[number++].written()) ++output;
    }
    const bool has = number < states.size();
    if (has) {
      inputs.push_back(known[closed + number]);
    } else {
      add(at.variable->spec());
    }
    if (kept == VariableOutputs::kNone ||
        (kept == VariableOutputs::kWritten && !at.written)) {
      continue;
    }
    outputs.push_back(has && states[number].written() ? graph.outputs()[output]
                                                      : inputs.back());
  }
  const size_t first_of_outside = inputs.size();
  for (const Value& value : outside.before) add(StateOf(value)->spec());
  inputs.insert(inputs.end(), known.begin() + part.input_count(),
                known.begin() + closed);
  for (const Value& value : outside.after) add(StateOf(value)->spec());
  if (kept == VariableOutputs::kAll) {
    outputs.insert(outputs.end(), inputs.begin() + first_of_outside,
                   inputs.end());
  }
  if (shared.ordered) {
    if (part.ordered()) {
      inputs.push_back(known.back());
      outputs.push_back(graph.outputs().back());
    } else {
      add(OrderSpec());
      if (kept != VariableOutputs::kNone) outputs.push_back(inputs.back());
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i < known.size()) {
      graph.SetGraphInput(static_cast<int>(i), inputs[i]);
    } else {
      graph.AddInput(inputs[i]);
    }
  }
  return outputs == graph.outputs() ? graph : ir::LiveCopy(graph, outputs);
}

// The graph that a decision or a loop of these operands is recorded in.
std::shared_ptr<GraphState> TargetOf(const std::vector<Value>& operands) {
  if (auto graph = CapturingGraph()) return graph;
  for (const Value& value : operands) {
    if (!IsAbsent(value) && value.symbolic()) return StateOf(value)->graph();
  }
  return nullptr;
}

Status AppendReads(const Shared& shared, GraphState* graph,
                   std::vector<Value>* operands) {
  if (graph == nullptr && !shared.variables.empty()) {
    return Unimplemented("variable '", shared.variables[0].variable->name(),
                         "' is used in a part of a graph whose values are not "
                         "passed to it; capture the graph, or pass them");
  }
  for (const PartVariable& at : shared.variables) {
    operands->push_back(graph->ReadVariable(at.variable));
  }
  return OkStatus();
}

Status AssignWritten(const Shared& shared, GraphState* graph,
                     VariableOutputs kept, const Value* made) {
  for (const PartVariable& at : shared.variables) {
    if (at.written) {
      TIM_RETURN_IF_ERROR(graph->AssignVariable(at.variable, *made));
    }
    if (at.written || kept == VariableOutputs::kAll) ++made;
  }
  return OkStatus();
}

Attribute GraphAttribute(ir::Graph graph) {
  return Access::MakeAttribute(std::make_shared<const AttributeState>(
      AttributeState{std::make_shared<const ir::Graph>(std::move(graph))}));
}

Result<std::vector<Value>> Record(const std::string& op, Attributes attributes,
                                  const Shared& shared,
                                  const std::vector<Value>& operands) {
  const auto node =
      WithOwn(MakeNode(op, attributes), shared.own, shared.ordered);
  const Outputs made = Forward(node, operands, {});
  if (!made.ok()) return InvalidArgument(made.error());
  std::vector<Value> values;
  for (size_t i = 0; i < made.size(); ++i) values.push_back(made[i]);
  return values;
}

// The condition as nodes take it: what is not 0 is true, as at once.
Value AsTruth(const Value& condition) {
  if (IsAbsent(condition)) return condition;
  if (StateOf(condition)->spec().desc.type == ir::DataType::kBool8) {
    return condition;
  }
  return Call("tim.Cast", {condition}, {{"output_type", "bool8"}});
}

void Append(const std::vector<Value>& more, std::vector<Value>* values) {
  values->insert(values->end(), more.begin(), more.end());
}

}  // namespace

Result<bool> IsTrue(const Value& condition) {
  const Plain plain = condition.ToPlain();
  if (!plain) return InvalidArgument(LastError());
  if (plain.spec.shape.NumElements() != 1) {
    return InvalidArgument("a condition has one element, not those of ",
                           plain.spec.shape.ToString());
  }
  if (const float* element = plain.As<float>()) return *element != 0;
  if (const double* element = plain.As<double>()) return *element != 0;
  if (plain.spec.type == Type::kFloat16 || plain.spec.type == Type::kBFloat16) {
    uint16_t bits = 0;
    std::memcpy(&bits, plain.data.get(), sizeof(bits));
    return (bits & 0x7fff) != 0;  // -0 is 0
  }
  const auto* bytes = static_cast<const std::byte*>(plain.data.get());
  return std::any_of(bytes, bytes + plain.bytes,
                     [](std::byte byte) { return byte != std::byte{0}; });
}

Result<std::vector<Value>> RecordIf(const Value& condition,
                                    const std::vector<Value>& inputs,
                                    const Function& then_part,
                                    const Function& else_part) {
  TIM_ASSIGN_OR_RETURN(const Part taken,
                       Capture("then part", then_part, inputs));
  TIM_ASSIGN_OR_RETURN(const Part other,
                       Capture("else part", else_part, inputs));
  if (taken->output_count() != other->output_count()) {
    return InvalidArgument("the then part of If makes ", taken->output_count(),
                           " values, the else part ", other->output_count());
  }
  const std::vector<Value> first = taken->ClosedOver();
  const std::vector<Value> second = other->ClosedOver();
  const Shared shared = SharedBy(*taken, *other);
  std::vector<Value> operands = {AsTruth(condition)};
  Append(inputs, &operands);
  const auto graph = TargetOf(operands);
  TIM_RETURN_IF_ERROR(AppendReads(shared, graph.get(), &operands));
  Append(first, &operands);
  Append(second, &operands);
  constexpr auto kKept = VariableOutputs::kWritten;
  TIM_ASSIGN_OR_RETURN(
      std::vector<Value> made,
      Record(
          "tim.If",
          {{ir::kThenGraph,
            GraphAttribute(GraphOf(*taken, shared, kKept, {.after = second}))},
           {ir::kElseGraph,
            GraphAttribute(GraphOf(*other, shared, kKept, {.before = first}))}},
          shared, operands));
  const size_t results = taken->output_count();
  TIM_RETURN_IF_ERROR(
      AssignWritten(shared, graph.get(), kKept, made.data() + results));
  made.resize(results);
  return made;
}

Result<std::vector<Value>> RecordWhile(
    const std::vector<Value>& state,
    const std::function<Value(const std::vector<Value>&)>& condition,
    const Function& body, int64_t max_trips) {
  TIM_ASSIGN_OR_RETURN(
      const Part goes_on,
      Capture(
          "condition",
          [&](const std::vector<Value>& in) -> std::vector<Value> {
            return {AsTruth(condition(in))};
          },
          state));
  TIM_ASSIGN_OR_RETURN(const Part trip, Capture("body", body, state));
  if (trip->output_count() != state.size()) {
    return InvalidArgument("the body of While makes ", trip->output_count(),
                           " values of ", state.size());
  }
  const std::vector<Value> first = goes_on->ClosedOver();
  const std::vector<Value> second = trip->ClosedOver();
  for (const GraphState::State& at : goes_on->states()) {
    if (!at.written()) continue;
    return Unimplemented("the condition assigns variable '",
                         at.variable->name(), "'; assign it in the body");
  }
  if (goes_on->ordered()) {
    return Unimplemented(
        "the condition has a holder whose effects are ordered; call it in the "
        "body, and let the condition look at what it gives");
  }
  const Shared shared = SharedBy(*goes_on, *trip);
  constexpr auto kKept = VariableOutputs::kAll;
  std::vector<Value> operands = state;
  const auto graph = TargetOf(operands);
  TIM_RETURN_IF_ERROR(AppendReads(shared, graph.get(), &operands));
  Append(first, &operands);
  Append(second, &operands);
  TIM_ASSIGN_OR_RETURN(
      std::vector<Value> made,
      Record("tim.While",
             {{ir::kConditionGraph,
               GraphAttribute(GraphOf(*goes_on, shared, VariableOutputs::kNone,
                                      {.after = second}))},
              {ir::kBodyGraph, GraphAttribute(GraphOf(*trip, shared, kKept,
                                                      {.before = first}))},
              {ir::kMaxTrips, max_trips}},
             shared, operands));
  TIM_RETURN_IF_ERROR(
      AssignWritten(shared, graph.get(), kKept, made.data() + state.size()));
  made.resize(state.size());
  return made;
}

}  // namespace tim::values::internal
