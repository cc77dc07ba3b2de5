// Gradients of functions: they are captured, differentiated as graphs, and the
// nodes of the result are called.
#include "tim/values/gradient.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/guarded.h"
#include "compiler/differentiate.h"
#include "ir/live_copy.h"
#include "ops/registered.h"
#include "values/access.h"
#include "values/failure.h"
#include "values/forward.h"
#include "values/graph_state.h"
#include "values/open_gradient.h"
#include "values/replay.h"

namespace tim::values {
namespace {

using internal::Access;
using internal::GradientKind;
using internal::GraphState;
using internal::OpenGradient;

// The gradient of `source`, which is the state's graph or a part of it; where
// inputs are open, a graph that becomes it.
Result<OpenGradient> GradientFor(const GraphState& state,
                                 const ir::Graph& source,
                                 const std::vector<int>& wrt,
                                 GradientKind kind) {
  auto known = internal::GradientOf(source, wrt, kind);
  if (known.ok()) return OpenGradient{*std::move(known), state.own()};
  const bool open = state.Level() == 0;
  if (!open || known.status().code() != StatusCode::kUnimplemented) {
    return known.status();
  }
  using compiler::GradientsOf;
  TIM_RETURN_IF_ERROR(compiler::CheckRules(source, ops::KnownOperators(), wrt,
                                           kind == GradientKind::kVjp
                                               ? GradientsOf::kAllOutputs
                                               : GradientsOf::kFirstOutput));
  return internal::OpenGradientOf(source, state.own(), wrt, kind);
}

// A function's gradients, of specs of its inputs.
struct Differentiated {
  ir::Graph graph;  // Outputs: the value, new values of variables, gradients.
  internal::OwnSchemas own;
};

// Differentiated graphs by the text of what they were made from.
class DifferentiatedGraphs {
 public:
  Result<std::shared_ptr<const Differentiated>> Find(
      const GraphState& state, const std::vector<int>& wrt) {
    const ir::Graph source = state.Known();
    // Schemas of a graph's own have names that others may have, too.
    if (!state.own().empty()) return Make(state, source, wrt);
    std::string key = source.Dump();
    for (const ir::ValueId id : source.ValueIds()) {
      const auto& constant = source.value(id).constant;
      if (constant != nullptr) key += constant->hash.ToString();
    }
    const std::lock_guard lock(mutex_);
    const auto found = made_.find(key);
    if (found != made_.end()) return found->second;
    TIM_ASSIGN_OR_RETURN(auto made, Make(state, source, wrt));
    if (made_.size() == kMost) made_.clear();
    made_[std::move(key)] = made;
    return made;
  }

 private:
  static constexpr size_t kMost = 64;

  static Result<std::shared_ptr<const Differentiated>> Make(
      const GraphState& state, const ir::Graph& source,
      const std::vector<int>& wrt) {
    TIM_ASSIGN_OR_RETURN(
        const OpenGradient gradient,
        GradientFor(state, source, wrt, GradientKind::kGradient));
    const ir::Graph& graph = gradient.graph;
    std::vector<ir::ValueId> outputs = {graph.outputs()[0]};
    for (size_t i = state.output_count(); i < graph.outputs().size(); ++i) {
      outputs.push_back(graph.outputs()[i]);
    }
    return std::make_shared<const Differentiated>(
        Differentiated{ir::LiveCopy(graph, outputs), gradient.own});
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Differentiated>> made_;
};

Status CheckDifferentiable(const GraphState& state) {
  TIM_RETURN_IF_ERROR(state.status());
  if (!state.ordered()) return OkStatus();
  return Unimplemented("graph '", state.name(),
                       "' has effects that are ordered; it cannot be "
                       "differentiated");
}

// Values for the inputs of a snapshot behind the user's own.
std::vector<Value> WithOuter(const GraphState& state,
                             std::vector<Value> inputs) {
  for (Value& value : state.ClosedOver()) inputs.push_back(std::move(value));
  for (const GraphState::State& variable : state.states()) {
    inputs.push_back(internal::ReadVariable(variable.variable));
  }
  return inputs;
}

// Variables get their new values, from `values` number `next` on.
Status AssignVariables(const GraphState& state,
                       const std::vector<Value>& values, size_t* next) {
  for (const GraphState::State& variable : state.states()) {
    if (!variable.written()) continue;
    TIM_RETURN_IF_ERROR(
        internal::AssignVariable(variable.variable, values[(*next)++]));
  }
  return OkStatus();
}

Result<Gradients> CallGradient(const Function& function,
                               const std::vector<int>& wrt,
                               DifferentiatedGraphs* made,
                               const std::vector<Value>& inputs) {
  std::vector<Spec> specs;
  for (const Value& input : inputs) {
    if (!input.ok()) return InvalidArgument(input.error());
    specs.push_back(input.spec());
  }
  const Graph graph = Graph::Capture(function, specs, "gradient");
  const GraphState& state = *Access::StateOf(graph);
  TIM_RETURN_IF_ERROR(CheckDifferentiable(state));
  TIM_ASSIGN_OR_RETURN(const auto differentiated, made->Find(state, wrt));
  TIM_ASSIGN_OR_RETURN(
      const std::vector<Value> values,
      internal::Replay(differentiated->graph, WithOuter(state, inputs),
                       differentiated->own));
  Gradients out;
  out.value = values[0];
  size_t next = 1;
  TIM_RETURN_IF_ERROR(AssignVariables(state, values, &next));
  out.gradients.assign(values.begin() + static_cast<std::ptrdiff_t>(next),
                       values.end());
  return out;
}

// Graphs that are made of others: their inputs, then those that `gradient` has
// behind those of the user's.
Result<std::shared_ptr<GraphState>> MakeGraph(const GraphState& state,
                                              const OpenGradient& gradient,
                                              const std::string& name,
                                              bool assigns) {
  const ir::Graph& source = gradient.graph;
  auto made = std::make_shared<GraphState>(name);
  const size_t own = state.input_count();
  const size_t outer = state.ClosedOver().size() + state.states().size();
  std::vector<Value> inputs;
  std::vector<Value> further;
  for (size_t i = 0; i < source.inputs().size(); ++i) {
    if (i >= own && i < own + outer) continue;
    const ir::Value& value = source.value(source.inputs()[i]);
    (i < own ? inputs : further)
        .push_back(made->AddInput(internal::ToSpec(value.desc, value.is_scalar),
                                  value.name));
  }
  const internal::CaptureScope scope(made);
  inputs = WithOuter(state, std::move(inputs));
  inputs.insert(inputs.end(), further.begin(), further.end());
  TIM_ASSIGN_OR_RETURN(
      const std::vector<Value> values,
      internal::ReplayInto(source, inputs, gradient.own, made.get()));
  const size_t outputs = assigns ? state.output_count() : 0;
  size_t next = outputs;
  if (assigns) TIM_RETURN_IF_ERROR(AssignVariables(state, values, &next));
  for (size_t i = 0; i < values.size(); ++i) {
    if (i < outputs || i >= next) made->AddOutput(values[i]);
  }
  TIM_RETURN_IF_ERROR(made->status());
  return made;
}

Result<std::shared_ptr<GraphState>> GradientGraph(const GraphState& state,
                                                  const ir::Graph& source,
                                                  const std::vector<int>& wrt,
                                                  GradientKind kind) {
  const bool vjp = kind == GradientKind::kVjp;
  TIM_ASSIGN_OR_RETURN(const OpenGradient made,
                       GradientFor(state, source, wrt, kind));
  return MakeGraph(state, made,
                   StrCat(state.name(), vjp ? ".vjp" : ".gradient"), !vjp);
}

Result<std::shared_ptr<GraphState>> DifferentiatedGraph(
    const GraphState& state, const std::vector<int>& wrt) {
  TIM_RETURN_IF_ERROR(CheckDifferentiable(state));
  return GradientGraph(state, state.Known(), wrt, GradientKind::kGradient);
}

Result<std::shared_ptr<GraphState>> VjpGraph(const GraphState& state,
                                             const std::vector<int>& wrt) {
  TIM_RETURN_IF_ERROR(CheckDifferentiable(state));
  const ir::Graph source = state.Known();
  // New values of variables are no outputs of the function.
  const std::vector<ir::ValueId> outputs(
      source.outputs().begin(),
      source.outputs().begin() +
          static_cast<std::ptrdiff_t>(state.output_count()));
  return GradientGraph(state, ir::LiveCopy(source, outputs), wrt,
                       GradientKind::kVjp);
}

Graph GraphOr(Result<std::shared_ptr<GraphState>> made,
              const std::string& name) {
  if (made.ok()) return Access::Make<Graph>(*std::move(made));
  internal::Fail(made.status());
  auto failed = std::make_shared<GraphState>(name);
  failed->Fail(made.status());
  return Access::Make<Graph>(std::move(failed));
}

}  // namespace

std::function<Gradients(const std::vector<Value>&)> ValueAndGrad(
    const Function& function, const std::vector<int>& wrt) {
  auto made = std::make_shared<DifferentiatedGraphs>();
  return [function, wrt, made](const std::vector<Value>& inputs) {
    Result<Gradients> found = GuardedCall(
        [&] { return CallGradient(function, wrt, made.get(), inputs); });
    if (found.ok()) return *std::move(found);
    Gradients failed;
    failed.value = internal::FailedValue(found.status());
    failed.gradients.assign(wrt.size(), failed.value);
    return failed;
  };
}

Function Grad(const Function& function, const std::vector<int>& wrt) {
  return
      [both = ValueAndGrad(function, wrt)](const std::vector<Value>& inputs) {
        return both(inputs).gradients;
      };
}

Graph Differentiate(const Graph& graph, const std::vector<int>& wrt) {
  const auto& state = Access::StateOf(graph);
  return GraphOr(GuardedCall([&] { return DifferentiatedGraph(*state, wrt); }),
                 state->name());
}

Graph Vjp(const Graph& graph, const std::vector<int>& wrt) {
  const auto& state = Access::StateOf(graph);
  return GraphOr(GuardedCall([&] { return VjpGraph(*state, wrt); }),
                 state->name());
}

Value StopGradient(const Value& value) {
  return Call("tim.StopGradient", {value});
}

}  // namespace tim::values
