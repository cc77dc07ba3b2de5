// Captures the parts of decisions and loops, and gives them the same inputs.
#include "values/control_graphs.h"

#include <algorithm>
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
  if (part->ordered() || !part->own().empty()) {
    return Unimplemented("the ", name,
                         " has a holder, which graphs run outside of decisions "
                         "and loops alone; call it before or after");
  }
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

// The part's graph.  Inputs: its own, the variables, values of outside;
// outputs: its own, and what variables have then.
ir::Graph GraphOf(const GraphState& part, const PartVariables& variables,
                  VariableOutputs kept, const Outside& outside) {
  ir::Graph graph = *part.Snapshot();
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
  for (const PartVariable& at : variables) {
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
  for (const Value& value : outside.before) add(StateOf(value)->spec());
  inputs.insert(inputs.end(), known.begin() + part.input_count(),
                known.begin() + closed);
  for (const Value& value : outside.after) add(StateOf(value)->spec());
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

Status AppendReads(const PartVariables& variables, GraphState* graph,
                   std::vector<Value>* operands) {
  if (graph == nullptr && !variables.empty()) {
    return Unimplemented("variable '", variables[0].variable->name(),
                         "' is used in a part of a graph whose values are not "
                         "passed to it; capture the graph, or pass them");
  }
  for (const PartVariable& at : variables) {
    operands->push_back(graph->ReadVariable(at.variable));
  }
  return OkStatus();
}

Status AssignWritten(const PartVariables& variables, GraphState* graph,
                     VariableOutputs kept, const Value* made) {
  for (const PartVariable& at : variables) {
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
                                  const std::vector<Value>& operands) {
  const Outputs made = Forward(MakeNode(op, attributes), operands, {});
  if (!made.ok()) return InvalidArgument(made.error());
  std::vector<Value> values;
  for (size_t i = 0; i < made.size(); ++i) values.push_back(made[i]);
  return values;
}

void Append(const std::vector<Value>& more, std::vector<Value>* values) {
  values->insert(values->end(), more.begin(), more.end());
}

}  // namespace

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
  const PartVariables variables = VariablesOf(*taken, *other);
  std::vector<Value> operands = {condition};
  Append(inputs, &operands);
  const auto graph = TargetOf(operands);
  TIM_RETURN_IF_ERROR(AppendReads(variables, graph.get(), &operands));
  Append(first, &operands);
  Append(second, &operands);
  constexpr auto kKept = VariableOutputs::kWritten;
  TIM_ASSIGN_OR_RETURN(
      std::vector<Value> made,
      Record("tim.If",
             {{ir::kThenGraph, GraphAttribute(GraphOf(*taken, variables, kKept,
                                                      {.after = second}))},
              {ir::kElseGraph, GraphAttribute(GraphOf(*other, variables, kKept,
                                                      {.before = first}))}},
             operands));
  const size_t results = taken->output_count();
  TIM_RETURN_IF_ERROR(
      AssignWritten(variables, graph.get(), kKept, made.data() + results));
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
            return {condition(in)};
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
  const PartVariables variables = VariablesOf(*goes_on, *trip);
  constexpr auto kKept = VariableOutputs::kAll;
  ir::Graph body_graph = GraphOf(*trip, variables, kKept, {.before = first});
  // Values from outside are passed on from trip to trip unchanged.
  const size_t carried = state.size() + variables.size();
  for (size_t i = carried; i < body_graph.inputs().size(); ++i) {
    body_graph.AddOutput(body_graph.inputs()[i]);
  }
  std::vector<Value> operands = state;
  const auto graph = TargetOf(operands);
  TIM_RETURN_IF_ERROR(AppendReads(variables, graph.get(), &operands));
  Append(first, &operands);
  Append(second, &operands);
  TIM_ASSIGN_OR_RETURN(
      std::vector<Value> made,
      Record(
          "tim.While",
          {{ir::kConditionGraph,
            GraphAttribute(GraphOf(*goes_on, variables, VariableOutputs::kNone,
                                   {.after = second}))},
           {ir::kBodyGraph, GraphAttribute(std::move(body_graph))},
           {ir::kMaxTrips, max_trips}},
          operands));
  TIM_RETURN_IF_ERROR(
      AssignWritten(variables, graph.get(), kKept, made.data() + state.size()));
  made.resize(state.size());
  return made;
}

}  // namespace tim::values::internal
