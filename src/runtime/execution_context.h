// One run in flight: arenas, streams, and the steps made ready.
#ifndef TIM_RUNTIME_EXECUTION_CONTEXT_H_
#define TIM_RUNTIME_EXECUTION_CONTEXT_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/executable.h"
#include "runtime/given_arenas.h"
#include "runtime/port_binding.h"
#include "runtime/shared_arenas.h"
#include "runtime/state_set.h"

namespace tim::runtime {

/// One run and one thread at a time; several contexts of one Executable run
/// side by side.
class ExecutionContext {
 public:
  /// Allocates arenas, prepares the steps, and runs the built-in kernels once
  /// on zeroed memory, so that Run() meets no first-use compilation.  Pools of
  /// the devices are trimmed: what that took is not kept.
  /// \param refused as Executable::Create's, of kernels that were not launched.
  /// \param arenas not null: the context has none itself.  Every run is given
  /// those that its plan has, and the first use of the kernels takes some of
  /// these, for which it waits as SharedArenas::Take().
  static Result<std::unique_ptr<ExecutionContext>> Create(
      std::shared_ptr<const Executable> executable,
      std::vector<compiler::RefusedKernel>* refused = nullptr,
      std::shared_ptr<SharedArenas> arenas = nullptr);
  /// One more of the same executable, whose kernels have been used: its arenas,
  /// of the devices' pools where `arenas` is null, hold anything.
  static Result<std::unique_ptr<ExecutionContext>> CreateAnother(
      std::shared_ptr<const Executable> executable,
      std::shared_ptr<SharedArenas> arenas = nullptr);
  /// Waits for a run that nobody has waited for.
  ~ExecutionContext();

  /// Blocks until the outputs are complete.  `inputs` and `outputs` in the
  /// order of plan().inputs and plan().outputs, as PortBinding gives them.
  /// `states` may be null where the plan has none.  On failure nothing is
  /// retried; after kDeviceLost every further Run gives the same error.
  Status Run(std::span<const PortMemory> inputs,
             std::span<const PortMemory> outputs, StateSet* states,
             GivenArenas arenas = {});
  /// The same of dense host memory, aligned to 64 bytes.
  Status Run(std::span<const void* const> inputs,
             std::span<void* const> outputs, StateSet* states);

  /// What Run() finds wrong with its arguments, at once.
  Status Check(std::span<const PortMemory> inputs,
               std::span<const PortMemory> outputs, const StateSet* states,
               GivenArenas arenas = {}) const;

  /// The halves of Run().  Enqueue() hands the run to the devices; after its
  /// success, and only then, the memory is in use until Wait() has returned,
  /// which comes before the next run and says how this one went.
  Status Enqueue(std::span<const PortMemory> inputs,
                 std::span<const PortMemory> outputs, StateSet* states,
                 GivenArenas arenas = {});
  Status Wait();
  /// Right before Enqueue(): the run starts after that of `other`, which is in
  /// flight, has ended, however.  Any thread may be in other.Wait() meanwhile,
  /// none in other functions of it.  kUnimplemented, and nothing was done,
  /// where the devices cannot wait for each other.
  Status Follow(const ExecutionContext& other);
  /// Whether Wait() would return at once.
  bool Ready() const;
  /// Whether Enqueue() may wait for work: the plan has steps of the host, or of
  /// devices that cannot wait for each other.
  bool blocks() const;

  /// Whether all that the plan does and has is of one queue of this device, so
  /// that it can follow in another one's.
  bool IsOfOneQueue(int device) const;
  /// Hands the run, of such a plan, to a stream of that device, behind what was
  /// given to it before.  Memory and context are in use until that stream has
  /// done it.
  Status EnqueueIn(device::Stream& stream, std::span<const PortMemory> inputs,
                   std::span<const PortMemory> outputs);

  const Executable& executable() const;
  /// The source of arenas for its runs; null: it has its own.
  const std::shared_ptr<SharedArenas>& shared_arenas() const;

  /// Devices may keep what Run() was given until the next one: before `memory`
  /// is freed, or other memory can be at its address, it must be released.
  void Release(const void* memory);

 private:
  struct Impl;
  explicit ExecutionContext(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_EXECUTION_CONTEXT_H_
