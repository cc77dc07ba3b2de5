// Captures the parts of decisions and loops, and gives them the same inputs.
#include "values/control_graphs.h"

#include <memory>
#include <utility>

#include "ir/control.h"
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
  if (!part->states().empty()) {
    return Unimplemented("the ", name,
                         " reads or assigns a variable; pass its value in and "
                         "assign what comes out");
  }
  if (part->ordered() || !part->own().empty()) {
    return Unimplemented("the ", name, " has a holder");
  }
  return part;
}

// The part's graph with inputs for values of outside that others need: those of
// `before`, its own, and those of `after`.
ir::Graph WithInputs(const GraphState& part, const std::vector<Value>& before,
                     const std::vector<Value>& after) {
  ir::Graph graph = *part.Snapshot();
  const std::vector<ir::ValueId> known = graph.inputs();
  const auto own = known.begin() + static_cast<long>(part.input_count());
  std::vector<ir::ValueId> inputs(known.begin(), own);
  const auto add = [&](const std::vector<Value>& values) {
    for (const Value& value : values) {
      const TensorSpec spec = StateOf(value)->spec();
      inputs.push_back(graph.AddValue(spec.desc, ir::Role::kInput, "unused"));
      graph.value(inputs.back()).is_scalar = spec.is_scalar;
    }
  };
  add(before);
  inputs.insert(inputs.end(), own, known.end());
  add(after);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i < known.size()) {
      graph.SetGraphInput(static_cast<int>(i), inputs[i]);
    } else {
      graph.AddInput(inputs[i]);
    }
  }
  return graph;
}

Attribute GraphAttribute(ir::Graph graph) {
  return Access::MakeAttribute(std::make_shared<const AttributeState>(
      AttributeState{std::make_shared<const ir::Graph>(std::move(graph))}));
}

Result<std::vector<Value>> Record(const std::string& op, Attributes attributes,
                                  const std::vector<Value>& operands,
                                  size_t outputs) {
  const Outputs made = Forward(MakeNode(op, attributes), operands, {});
  if (!made.ok()) return InvalidArgument(made.error());
  std::vector<Value> values;
  for (size_t i = 0; i < outputs; ++i) values.push_back(made[i]);
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
  std::vector<Value> operands = {condition};
  Append(inputs, &operands);
  Append(first, &operands);
  Append(second, &operands);
  return Record(
      "tim.If",
      {{ir::kThenGraph, GraphAttribute(WithInputs(*taken, {}, second))},
       {ir::kElseGraph, GraphAttribute(WithInputs(*other, first, {}))}},
      operands, taken->output_count());
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
  ir::Graph body_graph = WithInputs(*trip, first, {});
  // Values from outside are passed on from trip to trip unchanged.
  for (size_t i = state.size(); i < body_graph.inputs().size(); ++i) {
    body_graph.AddOutput(body_graph.inputs()[i]);
  }
  std::vector<Value> operands = state;
  Append(first, &operands);
  Append(second, &operands);
  return Record(
      "tim.While",
      {{ir::kConditionGraph, GraphAttribute(WithInputs(*goes_on, {}, second))},
       {ir::kBodyGraph, GraphAttribute(std::move(body_graph))},
       {ir::kMaxTrips, max_trips}},
      operands, state.size());
}

}  // namespace tim::values::internal
