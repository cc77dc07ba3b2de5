// Graphs as the public header has them.
#include "tim/values/graph.h"

#include <utility>

#include "base/guarded.h"
#include "values/access.h"
#include "values/failure.h"
#include "values/forward.h"
#include "values/graph_state.h"
#include "values/mode_state.h"

namespace tim::values {

using internal::Access;
using internal::GraphState;

namespace {

std::vector<Spec> ToSpecs(const std::vector<internal::TensorSpec>& list) {
  std::vector<Spec> specs;
  for (const internal::TensorSpec& spec : list) {
    specs.push_back(internal::ToSpec(spec.desc, spec.is_scalar));
  }
  return specs;
}

Graph FailedGraph(const std::string& name, const Status& status) {
  internal::Fail(status);
  auto state = std::make_shared<GraphState>(name);
  state->Fail(status);
  return Access::Make<Graph>(std::move(state));
}

}  // namespace

Graph::Graph() : state_(std::make_shared<GraphState>("")) {}

Graph Graph::Capture(const Function& function, const std::vector<Spec>& inputs,
                     const std::string& name) {
  auto state = std::make_shared<GraphState>(name);
  Graph graph = Access::Make<Graph>(state);
  const Status called = GuardedCall([&]() -> Status {
    std::vector<Value> symbols;
    for (const Spec& spec : inputs) {
      symbols.push_back(state->AddInput(spec, ""));
    }
    TIM_RETURN_IF_ERROR(state->status());
    if (!function) return InvalidArgument("there is no function to capture");
    const internal::CaptureScope scope(state);
    for (const Value& value : function(symbols)) state->AddOutput(value);
    return OkStatus();
  });
  if (!called.ok()) state->Fail(called);
  if (!state->status().ok()) internal::Fail(state->status());
  return graph;
}

Value Graph::Input(const Spec& spec, const std::string& name) {
  return state_->AddInput(spec, name);
}

void Graph::Output(const Value& value) {
  state_->AddOutput(value);
  if (!state_->status().ok()) internal::Fail(state_->status());
}

bool Graph::ok() const { return state_->status().ok(); }
std::string Graph::error() const { return state_->status().message(); }
int Graph::Level() const { return state_->Level(); }

std::vector<Spec> Graph::InputSpecs() const {
  return ToSpecs(state_->InputSpecs());
}

std::vector<Spec> Graph::OutputSpecs() const {
  return ToSpecs(state_->OutputSpecs());
}

Graph Graph::Specialize(const std::vector<Spec>& inputs) const {
  auto made = GuardedCall([&] { return state_->Specialize(inputs); });
  if (made.ok()) return Access::Make<Graph>(*std::move(made));
  return FailedGraph(state_->name(), made.status());
}

Outputs Graph::Call(const std::vector<Value>& inputs) const {
  if (!ok()) return internal::FailedOutputs(state_->status());
  if (inputs.size() != state_->input_count()) {
    return internal::FailedOutputs(
        InvalidArgument("graph '", state_->name(), "' takes ",
                        state_->input_count(), " inputs, not ", inputs.size()));
  }
  std::vector<Value> all = inputs;
  for (Value& value : state_->ClosedOver()) all.push_back(std::move(value));
  for (const GraphState::State& state : state_->states()) {
    all.push_back(internal::ReadVariable(state.variable));
  }
  const Outputs outputs = internal::Forward(state_->AsNode(), all, {});
  if (!outputs.ok()) return outputs;
  std::vector<Value> values;
  for (size_t i = 0; i < state_->output_count(); ++i) {
    values.push_back(outputs[i]);
  }
  size_t next = values.size();
  for (const GraphState::State& state : state_->states()) {
    if (!state.written()) continue;
    const Status status =
        internal::AssignVariable(state.variable, outputs[next++]);
    if (!status.ok()) return internal::FailedOutputs(status);
  }
  return internal::MakeOutputs(std::move(values));
}

std::string Graph::Dump() const { return state_->Known().Dump(); }

}  // namespace tim::values
