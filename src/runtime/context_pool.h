// The contexts of an executable, and the runs that are in flight there.
#ifndef TIM_RUNTIME_CONTEXT_POOL_H_
#define TIM_RUNTIME_CONTEXT_POOL_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "runtime/executable.h"
#include "runtime/execution_context.h"
#include "runtime/given_arenas.h"
#include "runtime/port_binding.h"
#include "runtime/run_event.h"
#include "runtime/state_set.h"

namespace tim::runtime {

/// Memory of one run, in the order of plan().inputs and plan().outputs, as
/// PortBinding gives it; it must stay until the run has ended.
struct RunPorts {
  std::vector<PortMemory> inputs;
  std::vector<PortMemory> outputs;
  std::vector<PortMemory> arenas = {};  ///< See GivenArenas.
};

/// What a run calls besides its steps; either may be null, and neither uses the
/// pool.
struct RunCalls {
  /// Right before the run starts, when those that it awaits have ended.
  std::function<void()> begin = nullptr;
  /// With how the run went, before its event is ready, on whichever thread
  /// finds that it has ended; what it returns is what the event gives.
  std::function<Status(Status)> end = nullptr;
};

struct ContextSlot;

/// Makes contexts when runs need them, `max_in_flight` at most for those that
/// are started outside of runs.  Any thread.  A forked process has contexts of
/// its own, and none of the runs that were in flight when it was forked off:
/// their events fail there.
class ContextPool {
 public:
  static constexpr int kMaxInFlight = 4;
  /// Contexts besides, for runs that are started inside of runs, and as many
  /// for runs that these may wait for by threads of their own.
  static constexpr size_t kMaxInside = 64;

  class State;  ///< Shared with the runs.

  struct FreeSlot {
    std::shared_ptr<State> state;
    void operator()(ContextSlot* slot) const;
  };
  /// A context, and arenas where runs share some, which nobody else gets as
  /// long as this is there.  Whoever has it waits for no run meanwhile.
  using Reservation = std::unique_ptr<ContextSlot, FreeSlot>;

  /// With `first`, a context of `executable` that no run uses, so that the
  /// first run meets no compilation.
  static std::unique_ptr<ContextPool> Create(
      std::shared_ptr<const Executable> executable,
      std::unique_ptr<ExecutionContext> first,
      int max_in_flight = kMaxInFlight);
  ContextPool(const ContextPool&) = delete;
  ContextPool& operator=(const ContextPool&) = delete;
  /// Waits for what is in flight.
  ~ContextPool();

  /// Hands a run to the devices and returns; where the plan has work for the
  /// host, a thread of the pool does that.  Blocks only while `max_in_flight`
  /// runs are in flight (where those call functions of clients, no longer than
  /// until none of them has ended for a quarter of a second: they may wait for
  /// this one), and not where a function that a run calls starts it:
  /// kFailedPrecondition once there are kMaxInside of such runs, and where it
  /// would await that run for its states.  A run of the same states starts
  /// after the last one has ended, and any run after those of `waits`; where
  /// one of them failed, it fails likewise and does nothing.  Once a device was
  /// lost all later runs fail for that reason.
  ///
  /// A failure means that there is no run.
  /// \param states of this executable; null where the plan has none.
  Result<std::shared_ptr<RunEvent>> Enqueue(
      RunPorts ports, std::shared_ptr<StateSet> states,
      std::vector<std::shared_ptr<RunEvent>> waits = {}, RunCalls calls = {});
  /// Enqueue() where it need not block, as with what is reserved here; else
  /// null, and nothing was done.
  Result<std::shared_ptr<RunEvent>> EnqueueIfFree(
      RunPorts ports, std::shared_ptr<StateSet> states,
      std::vector<std::shared_ptr<RunEvent>> waits = {}, RunCalls calls = {},
      Reservation reserved = {});
  /// Blocks as Enqueue() does, and fails so.
  Result<Reservation> WaitForContext();

  /// The same of a plan without states, where the devices do all of it and
  /// nothing has to be waited for; else null, and nothing was done: where a
  /// thread would have to do the run, no context is free, or the devices cannot
  /// wait for a run of `after`.  The run starts when those have ended, however;
  /// what they leave in memory it finds there.
  Result<std::shared_ptr<RunEvent>> TryEnqueue(
      RunPorts ports, std::vector<std::shared_ptr<RunEvent>> after = {},
      RunCalls calls = {});

  /// Enqueue() and Wait(), without an event.
  Status Run(std::span<const PortMemory> inputs,
             std::span<const PortMemory> outputs, StateSet* states,
             GivenArenas arenas = {});

  /// Blocks until what is in flight has ended, but for runs that this is inside
  /// of.
  void Drain();
  /// Before `memory`, which runs have been given, is freed, or other memory can
  /// be at its address.  Drains; a run that this is inside of keeps it until it
  /// has ended.
  void Release(const void* memory);

  /// Contexts that there are now.
  int contexts() const;

 private:
  explicit ContextPool(std::shared_ptr<State> state);
  /// That of this process.
  State& Own() const;

  mutable std::shared_ptr<State> state_;
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_CONTEXT_POOL_H_
