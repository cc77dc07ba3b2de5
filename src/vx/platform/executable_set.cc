#include <algorithm>
#include <utility>

#include "vx/core/failure.h"
#include "vx/platform/native_executor.h"

namespace tim::vx::platform {
namespace {

using Handles = std::vector<std::shared_ptr<ITensorHandle>>;

bool FailOfMembers(const char* what) {
  return Fail(InvalidArgument(what,
                              " of a set of executables: inputs and outputs "
                              "belong to its members"));
}

}  // namespace

std::shared_ptr<IExecutable> CreateExecutableSet(
    const std::vector<std::shared_ptr<IExecutable>>& executables) {
  const bool has_null = std::find(executables.begin(), executables.end(),
                                  nullptr) != executables.end();
  if (!executables.empty() && !has_null) {
    return std::make_shared<ExecutableSet>(executables);
  }
  Fail(InvalidArgument("CreateExecutableSet() needs executables, ",
                       has_null ? "one is null" : "there are none"));
  return nullptr;
}

ExecutableSet::ExecutableSet(
    const std::vector<std::shared_ptr<IExecutable>>& executables)
    : executables_(executables) {
  std::erase(executables_, nullptr);
  if (executables_.empty()) return;
  executor_ = executables_[0]->Executor();
}

void ExecutableSet::SetInput(const std::shared_ptr<ITensorHandle>&) {
  FailOfMembers("SetInput()");
}
void ExecutableSet::SetOutput(const std::shared_ptr<ITensorHandle>&) {
  FailOfMembers("SetOutput()");
}
void ExecutableSet::SetInputs(const Handles&) { FailOfMembers("SetInputs()"); }
void ExecutableSet::SetOutputs(const Handles&) {
  FailOfMembers("SetOutputs()");
}

std::shared_ptr<ITensorHandle> ExecutableSet::AllocateTensor(const TensorSpec&,
                                                             void*, uint32_t) {
  FailOfMembers("AllocateTensor()");
  return nullptr;
}

Handles ExecutableSet::Getinputs() {
  Handles all;
  for (const auto& executable : executables_) {
    const Handles some = executable->Getinputs();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

Handles ExecutableSet::GetOutputs() {
  Handles all;
  for (const auto& executable : executables_) {
    const Handles some = executable->GetOutputs();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

bool ExecutableSet::Verify() {
  if (executables_.empty()) {
    return Fail(InvalidArgument("a set of executables is empty"));
  }
  return std::all_of(
      executables_.begin(), executables_.end(),
      [](const auto& executable) { return executable->Verify(); });
}

bool ExecutableSet::Trigger(bool async) {
  if (async) return RunBehindQueue(Executor(), weak_from_this().lock());
  if (executables_.empty()) return Verify();
  Status first;
  for (const auto& executable : executables_) {
    const Status status = StatusOf([&] { return executable->Trigger(); });
    if (first.ok()) first = status;
  }
  return first.ok() || Adopt(first);
}

bool ExecutableSet::Submit(const std::shared_ptr<IExecutable>& ref,
                           bool after) {
  return SubmitTo(Executor(), weak_from_this().lock(), ref, after);
}

}  // namespace tim::vx::platform
