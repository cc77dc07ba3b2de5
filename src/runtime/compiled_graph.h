// A graph that is ready to run on its devices, as all front ends have it.
#ifndef TIM_RUNTIME_COMPILED_GRAPH_H_
#define TIM_RUNTIME_COMPILED_GRAPH_H_

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/fork/per_process.h"
#include "base/status.h"
#include "compiler/compiler.h"
#include "ir/plan.h"
#include "runtime/context_pool.h"
#include "runtime/executable.h"
#include "runtime/given_arenas.h"
#include "runtime/observed_run.h"
#include "runtime/port_binding.h"
#include "runtime/ready_graph.h"
#include "runtime/run_event.h"
#include "runtime/shared_arenas.h"
#include "runtime/state_set.h"

namespace tim::runtime {

/// Plan, programs and constants, contexts, and the states of its runs.  Ports
/// are numbered as in plan().inputs, outputs and states.  Any thread.
class CompiledGraph {
 public:
  /// See CompileAndPrepare().
  static Result<std::unique_ptr<CompiledGraph>> Create(
      const compiler::InferredGraph& graph,
      const compiler::CompileOptions& options, const Surroundings& surroundings,
      std::shared_ptr<SharedArenas> arenas = nullptr);
  /// A graph whose plan was made before, perhaps by another process.
  static Result<std::unique_ptr<CompiledGraph>> Load(
      ir::Plan plan, const Surroundings& surroundings);
  /// A graph of an executable, which others may run, too, and its context; null
  /// where it has others, whose kernels have been used: it makes one then.
  static Result<std::unique_ptr<CompiledGraph>> Of(ReadyGraph ready);

  const ir::Plan& plan() const { return executable_->plan(); }
  const std::shared_ptr<const Executable>& executable() const {
    return executable_;
  }
  /// Null where the graph has none.  They start with zero bytes.
  const std::shared_ptr<StateSet>& states() const { return states_; }

  /// A run behind all that are in flight; blocks until its outputs are
  /// complete.
  Status Run(std::span<const PortMemory> inputs,
             std::span<const PortMemory> outputs, GivenArenas arenas = {});
  /// The same step by step, in memory of its own, which is kept for the next.
  Status RunObserved(std::span<const PortMemory> inputs,
                     std::span<const PortMemory> outputs,
                     RunObserver& observer);
  /// Makes every run an observed one; Enqueue() then blocks until its run has
  /// ended.  Called before the first run.
  void ObserveRuns(std::shared_ptr<RunObserver> observer) {
    observer_ = std::move(observer);
  }
  /// A run that the devices do by themselves, after those of `waits`, whose
  /// outputs may be its inputs: see ContextPool::Enqueue(), and RunCalls about
  /// `end`.
  Result<std::shared_ptr<RunEvent>> Enqueue(
      std::span<const PortMemory> inputs, std::span<const PortMemory> outputs,
      std::vector<std::shared_ptr<RunEvent>> waits = {},
      std::function<Status(Status)> end = nullptr, GivenArenas arenas = {});
  /// Enqueue() where a context is free, or reserved here, so that it need not
  /// wait for one; else null, and nothing was done.  Not for observed runs.
  Result<std::shared_ptr<RunEvent>> EnqueueIfFree(
      std::span<const PortMemory> inputs, std::span<const PortMemory> outputs,
      std::vector<std::shared_ptr<RunEvent>> waits = {},
      std::function<Status(Status)> end = nullptr,
      ContextPool::Reservation reserved = {});
  /// See ContextPool::WaitForContext().
  Result<ContextPool::Reservation> WaitForContext() {
    return pool_->WaitForContext();
  }

  /// Enqueue() where it takes no thread, no copy and no wait; else null, and
  /// nothing was done: see ContextPool::TryEnqueue().  The run starts after
  /// those of `after` have ended, however.
  Result<std::shared_ptr<RunEvent>> TryEnqueue(
      std::span<const PortMemory> inputs, std::span<const PortMemory> outputs,
      std::vector<std::shared_ptr<RunEvent>> after = {},
      std::function<Status(Status)> end = nullptr);

  /// Blocks until what is in flight has ended.
  void Drain() { pool_->Drain(); }
  /// Before host memory that runs have been given is freed.  Drains.
  void Release(const void* memory) { pool_->Release(memory); }

 private:
  CompiledGraph() = default;
  /// Enqueue() of an observed run, which has ended when this returns.
  Result<std::shared_ptr<RunEvent>> RunNow(
      std::span<const PortMemory> inputs, std::span<const PortMemory> outputs,
      const std::vector<std::shared_ptr<RunEvent>>& waits,
      const std::function<Status(Status)>& end);
  /// Binds the ports, runs on what they are bound to, and copies back.
  template <typename Function>
  Status RunBound(std::span<const PortMemory> inputs,
                  std::span<const PortMemory> outputs, const Function& run);
  /// Run() where a function that a run of this graph calls starts it.
  Status RunInside(std::span<const PortMemory> inputs,
                   std::span<const PortMemory> outputs, GivenArenas arenas);

  std::shared_ptr<const Executable> executable_;
  std::shared_ptr<StateSet> states_;
  std::unique_ptr<ContextPool> pool_;
  PerProcess<std::mutex> run_mutex_;  ///< Of Run() and its binding.
  PortBinding binding_;
  std::shared_ptr<RunObserver> observer_;  ///< Observes all runs; or null.
  /// Null before the first observed run of the process.
  PerProcess<std::unique_ptr<ObservedRun>> observed_;
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_COMPILED_GRAPH_H_
