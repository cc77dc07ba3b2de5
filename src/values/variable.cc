// Variables: read and assigned at once, or as a part of a graph.
#include "tim/values/variable.h"

#include <utility>

#include "values/access.h"
#include "values/failure.h"
#include "values/graph_state.h"
#include "values/token_state.h"

namespace tim::values {
namespace internal {
namespace {

// The graph in which the variable has an own value.
std::shared_ptr<GraphState> GraphOf(const Value* value) {
  if (value != nullptr && !IsAbsent(*value)) {
    const auto& graph = StateOf(*value)->graph();
    if (graph != nullptr && CapturingGraph() == nullptr) return graph;
  }
  return CapturingGraph();
}

// A value of a graph would keep the graph that keeps the variable.
std::shared_ptr<ValueState> InitialOf(const Value& value,
                                      const std::string& name) {
  if (!value.symbolic()) return StateOf(value);
  return ValueState::Failed(
      Fail(StrCat("variable '", name,
                  "' has no initial value: the one given is of a graph, and "
                  "has no data; make the variable of a value with data, and "
                  "Assign() this one to it")));
}

}  // namespace

void VariableState::Set(std::shared_ptr<ValueState> value) {
  auto assigned = std::make_shared<Assigned>(Assigned{std::move(value)});
  const std::lock_guard lock(mutex_);
  last_.swap(assigned);
}

std::shared_ptr<Assigned> VariableState::SetBy(
    std::shared_ptr<ValueState> value) {
  auto assigned = std::make_shared<Assigned>(Assigned{std::move(value)});
  const std::lock_guard lock(mutex_);
  assigned->before = last_;
  last_ = assigned;
  return assigned;
}

// Runs that awaited the one which failed have failed, too, and may be settled
// before or after it.
void VariableState::Settle(const std::shared_ptr<Assigned>& assigned, bool ok) {
  std::shared_ptr<Assigned> dropped;
  const std::lock_guard lock(mutex_);
  if (ok) {
    dropped.swap(assigned->before);
    return;
  }
  assigned->failed = true;
  dropped = last_;
  while (last_->failed) last_ = last_->before;
}

void RunAssignments::Add(std::shared_ptr<VariableState> variable,
                         std::shared_ptr<Assigned> assigned) {
  const std::lock_guard lock(mutex_);
  if (ended_) return variable->Settle(assigned, ok_);
  assigned_.emplace_back(std::move(variable), std::move(assigned));
}

void RunAssignments::End(bool ok) {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  ok_ = ok;
  for (const auto& [variable, assigned] : assigned_) {
    variable->Settle(assigned, ok);
  }
  assigned_.clear();
}

Value ReadVariable(const std::shared_ptr<VariableState>& variable) {
  if (!variable->status().ok()) return FailedValue(variable->status());
  const auto graph = GraphOf(nullptr);
  return graph != nullptr ? graph->ReadVariable(variable)
                          : MakeValue(variable->Get());
}

Status AssignVariable(const std::shared_ptr<VariableState>& variable,
                      const Value& value) {
  TIM_RETURN_IF_ERROR(variable->status());
  if (const auto graph = GraphOf(&value)) {
    return graph->AssignVariable(variable, value);
  }
  const auto state = StateOf(value);
  TIM_RETURN_IF_ERROR(state->status());
  const auto fits = Merge(variable->spec(), state->spec());
  if (!fits.ok()) {
    return fits.status().WithContext(
        StrCat("variable '", variable->name(), "'"));
  }
  variable->Set(state);
  return OkStatus();
}

}  // namespace internal

using internal::Access;

Variable::Variable(const Value& initial, const std::string& name)
    : state_(std::make_shared<internal::VariableState>(
          internal::InitialOf(initial, name), name)) {}

Value Variable::Read(const std::vector<Token>& after) const {
  for (const Token& token : after) {
    const Status status = internal::StatusOf(token);
    if (!status.ok()) return internal::FailedValue(status);
  }
  return internal::ReadVariable(state_);
}

Token Variable::Assign(const Value& value, const std::vector<Token>& after) {
  Status status;
  for (const Token& token : after) {
    if (status.ok()) status = internal::StatusOf(token);
  }
  if (status.ok()) status = internal::AssignVariable(state_, value);
  if (!status.ok()) {
    internal::Fail(status);
    return internal::MakeToken({.status = status});
  }
  internal::TokenState signal;
  if (!value.symbolic()) signal.values.push_back(internal::StateOf(value));
  return internal::MakeToken(std::move(signal));
}

}  // namespace tim::values
