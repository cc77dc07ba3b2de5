// Runs decisions and loops by looking at their conditions.
#include "tim/values/control.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "values/control_graphs.h"
#include "values/failure.h"
#include "values/forward.h"
#include "values/graph_state.h"
#include "values/value_state.h"

namespace tim::values {
namespace {

using internal::IsTrue;

bool IsSymbolic(const Value& value) { return value.symbolic(); }

Result<std::vector<Value>> Decide(const Value& condition,
                                  const std::vector<Value>& inputs,
                                  const Function& then_part,
                                  const Function& else_part) {
  if (condition.symbolic()) {
    return internal::RecordIf(condition, inputs, then_part, else_part);
  }
  TIM_ASSIGN_OR_RETURN(const bool taken, IsTrue(condition));
  const Function& part = taken ? then_part : else_part;
  if (!part) {
    return InvalidArgument("the ", taken ? "then" : "else",
                           " part of If is no function");
  }
  return part(inputs);
}

Result<std::vector<Value>> Loop(
    std::vector<Value> state,
    const std::function<Value(const std::vector<Value>&)>& condition,
    const Function& body, int64_t max_trips) {
  if (!condition || !body) {
    return InvalidArgument("While has no condition or no body");
  }
  if (max_trips < -1) {
    return InvalidArgument("While has max_trips ", max_trips,
                           ", expected -1 (no limit) or more");
  }
  if (std::any_of(state.begin(), state.end(), IsSymbolic)) {
    return internal::RecordWhile(state, condition, body, max_trips);
  }
  for (int64_t trip = 0; max_trips < 0 || trip < max_trips; ++trip) {
    const Value goes_on = condition(state);
    if (goes_on.symbolic()) {
      return internal::RecordWhile(
          state, condition, body, max_trips < 0 ? max_trips : max_trips - trip);
    }
    TIM_ASSIGN_OR_RETURN(const bool taken, IsTrue(goes_on));
    if (!taken) break;
    std::vector<Value> next = body(state);
    if (next.size() != state.size()) {
      return InvalidArgument("the body of While makes ", next.size(),
                             " values of ", state.size());
    }
    state = std::move(next);
  }
  return state;
}

Outputs OutputsOf(Result<std::vector<Value>> values) {
  if (!values.ok()) return internal::FailedOutputs(values.status());
  for (const Value& value : *values) {
    const Status status = internal::StateOf(value)->status();
    if (!status.ok()) return internal::FailedOutputs(status);
  }
  return internal::MakeOutputs(*std::move(values));
}

}  // namespace

Outputs If(const Value& condition, const std::vector<Value>& inputs,
           const Function& then_part, const Function& else_part) {
  return OutputsOf(GuardedCall(
      [&] { return Decide(condition, inputs, then_part, else_part); }));
}

Outputs While(const std::vector<Value>& state,
              const std::function<Value(const std::vector<Value>&)>& condition,
              const Function& body, int64_t max_trips) {
  return OutputsOf(
      GuardedCall([&] { return Loop(state, condition, body, max_trips); }));
}

}  // namespace tim::values
