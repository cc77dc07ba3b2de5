// The memory of states: zeros at first, then what runs and callers write.
#include "runtime/state_set.h"

#include <utility>

#include "device/device_pools.h"
#include "runtime/inside_run.h"
#include "runtime/transfer.h"

namespace tim::runtime {

Result<std::unique_ptr<StateSet>> StateSet::Create(
    std::shared_ptr<const Executable> executable) {
  std::unique_ptr<StateSet> set(new StateSet());
  set->executable_ = std::move(executable);
  const ir::Plan& plan = set->executable_->plan();
  set->streams_.resize(plan.devices.size());
  for (const ir::PlanState& state : plan.states) {
    const Status status = set->Add(state);
    if (!status.ok()) {
      return status.WithContext(StrCat("state '", state.name, "'"));
    }
  }
  return set;
}

Result<device::Stream*> StateSet::StreamOf(int device) {
  std::unique_ptr<device::Stream>& stream = streams_[device];
  if (stream == nullptr) {
    TIM_ASSIGN_OR_RETURN(stream, executable_->device(device).CreateStream());
  }
  return stream.get();
}

Status StateSet::Add(const ir::PlanState& state) {
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, ByteSize(state.desc));
  device::PoolAllocator& pool =
      executable_->device(state.device).pools().Of(ir::MemoryKind::kDevice);
  State added;
  TIM_ASSIGN_OR_RETURN(added.stream, StreamOf(state.device));
  TIM_ASSIGN_OR_RETURN(added.read, pool.Allocate(bytes, added.stream));
  TIM_RETURN_IF_ERROR(FillZero(*added.stream, added.read.buffer()));
  if (state.written && !state.in_place) {
    TIM_ASSIGN_OR_RETURN(added.write, pool.Allocate(bytes, added.stream));
    TIM_RETURN_IF_ERROR(FillZero(*added.stream, added.write.buffer()));
  }
  states_.push_back(std::move(added));
  return OkStatus();
}

Status StateSet::CheckIndex(int index) const {
  if (index >= 0 && index < static_cast<int>(states_.size())) {
    return OkStatus();
  }
  return InvalidArgument("state ", index, " of ", states_.size());
}

Status StateSet::Write(int index, const void* data) {
  TIM_RETURN_IF_ERROR(CheckIndex(index));
  TIM_RETURN_IF_ERROR(WaitForRun());
  const State& state = states_[index];
  device::Buffer& buffer = state.read.buffer();
  return Upload(*state.stream, data, buffer.bytes(), buffer);
}

Status StateSet::Read(int index, void* data) const {
  TIM_RETURN_IF_ERROR(CheckIndex(index));
  TIM_RETURN_IF_ERROR(WaitForRun());
  const State& state = states_[index];
  device::Buffer& buffer = state.read.buffer();
  return Download(*state.stream, buffer, data, buffer.bytes());
}

std::shared_ptr<RunEvent> StateSet::Follow(
    const std::shared_ptr<RunEvent>& run) {
  const std::lock_guard lock(mutex_);
  return std::exchange(run_, run).lock();
}

Status StateSet::WaitForRun() const {
  std::shared_ptr<RunEvent> run;
  {
    const std::lock_guard lock(mutex_);
    run = run_.lock();
  }
  if (run == nullptr) return OkStatus();
  if (IsInside(*run)) {
    return FailedPrecondition(
        "inside a function that a run calls: its states are free only after it "
        "has returned");
  }
  static_cast<void>(run->Wait());
  return OkStatus();
}

Status CheckStates(const Executable& executable, const StateSet* states) {
  const ir::Plan& plan = executable.plan();
  if (states == nullptr && !plan.states.empty()) {
    return InvalidArgument("graph '", plan.graph,
                           "' has states, but a run was given none");
  }
  if (states != nullptr && &states->executable() != &executable) {
    return InvalidArgument("graph '", plan.graph,
                           "': the states belong to another executable");
  }
  return OkStatus();
}

void StateSet::Advance() {
  for (State& state : states_) {
    if (state.write) std::swap(state.read, state.write);
  }
}

}  // namespace tim::runtime
