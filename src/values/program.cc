// Programs as the public header has them.
#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "tim/values/graph.h"
#include "values/access.h"
#include "values/event_state.h"
#include "values/failure.h"
#include "values/program_file.h"
#include "values/program_state.h"

namespace tim::values {

using internal::Access;
using internal::ProgramState;

namespace {

// The program's state; that of Program() has failed with "no program".
std::shared_ptr<ProgramState> StateOf(const Program& program) {
  const auto& state = Access::StateOf(program);
  return state != nullptr ? state
                          : ProgramState::Failed(InvalidArgument("no program"));
}

Program MakeProgram(Result<std::shared_ptr<ProgramState>> made) {
  if (made.ok()) return Access::Make<Program>(*std::move(made));
  internal::Fail(made.status());
  return Access::Make<Program>(ProgramState::Failed(made.status()));
}

bool Told(const Status& status) {
  if (!status.ok()) internal::Fail(status);
  return status.ok();
}

}  // namespace

Program Graph::Compile(const ProgramOptions& options) const {
  return MakeProgram(
      GuardedCall([&] { return ProgramState::Create(*state_, options); }));
}

bool Program::ok() const { return StateOf(*this)->status().ok(); }

std::string Program::error() const {
  return StateOf(*this)->status().message();
}

bool Program::Prepare(const std::vector<Spec>& inputs) {
  return Told(GuardedCall([&] { return StateOf(*this)->Prepare(inputs); }));
}

std::vector<Value> Program::Run(const std::vector<Value>& inputs) const {
  const auto state = StateOf(*this);
  auto values = GuardedCall([&] { return state->Run(inputs); });
  if (values.ok()) return *std::move(values);
  // Failed values take the place of all outputs, so that indices hold.
  return std::vector<Value>(std::max<size_t>(state->output_count(), 1),
                            internal::FailedValue(values.status()));
}

Event Program::RunInto(const std::vector<Value>& inputs,
                       const std::vector<void*>& outputs) const {
  auto event =
      GuardedCall([&] { return StateOf(*this)->RunInto(inputs, outputs); });
  if (event.ok()) return *std::move(event);
  internal::Fail(event.status());
  return internal::MakeEvent(event.status(), {});
}

CacheStats Program::stats() const { return StateOf(*this)->stats(); }

std::string Program::Explain() const { return StateOf(*this)->Explain(); }

std::vector<NodeReport> Program::Profile(const std::vector<Value>& inputs,
                                         int runs) const {
  auto reports =
      GuardedCall([&] { return StateOf(*this)->Profile(inputs, runs); });
  if (reports.ok()) return *std::move(reports);
  internal::Fail(reports.status());
  return {};
}

bool Program::Save(const std::string& path) const {
  return Told(GuardedCall(
      [&] { return internal::SaveProgram(*StateOf(*this), path); }));
}

Program Program::Load(const std::string& path) {
  return MakeProgram(GuardedCall([&] { return internal::LoadProgram(path); }));
}

}  // namespace tim::values
