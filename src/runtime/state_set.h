// The VARIABLE tensors of a graph between its runs.
#ifndef TIM_RUNTIME_STATE_SET_H_
#define TIM_RUNTIME_STATE_SET_H_

#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "device/pool_allocator.h"
#include "runtime/executable.h"
#include "runtime/run_event.h"

namespace tim::runtime {

/// Two buffers per state that a run writes (every read of a run sees the value
/// from before it), one per state that is only read or updated in place, in the
/// pools of their devices.  One run and one thread at a time; no run uses them
/// when they are destroyed.
class StateSet {
 public:
  /// All states start with zero bytes.
  static Result<std::unique_ptr<StateSet>> Create(
      std::shared_ptr<const Executable> executable);

  /// Dense bytes of plan.states[index]; waits for the device.
  Status Write(int index, const void* data);
  Status Read(int index, void* data) const;

  const Executable& executable() const { return *executable_; }
  device::Buffer& read_buffer(int index) const {
    return states_[index].read.buffer();
  }
  /// Of a state that the plan writes.
  device::Buffer& write_buffer(int index) const {
    const State& state = states_[index];
    return (state.write ? state.write : state.read).buffer();
  }
  /// `run` is the one that uses the states from now on: until it has ended,
  /// Write() and Read() wait.  Returns the one before, null where that has
  /// ended.
  std::shared_ptr<RunEvent> Follow(const std::shared_ptr<RunEvent>& run);
  /// Blocks until the run that uses the states, if any, has ended;
  /// kFailedPrecondition inside of that run.
  Status WaitForRun() const;
  /// After a successful run: what was written becomes what is read.  After a
  /// failed one only states that are updated in place have changed.
  void Advance();

 private:
  struct State {
    device::PoolRange read;
    device::PoolRange write;  // none where there is one buffer
    device::Stream* stream = nullptr;
  };

  StateSet() = default;
  Status Add(const ir::PlanState& state);
  Result<device::Stream*> StreamOf(int device);
  Status CheckIndex(int index) const;

  std::shared_ptr<const Executable> executable_;
  std::vector<std::unique_ptr<device::Stream>> streams_;  // per device, or null
  std::vector<State> states_;
  mutable std::mutex mutex_;  // of run_
  std::weak_ptr<RunEvent> run_;
};

/// Whether `states` are what a run of the executable takes: its own, or null
/// where the plan has none.
Status CheckStates(const Executable& executable, const StateSet* states);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_STATE_SET_H_
