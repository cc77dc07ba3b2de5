// The road from a compiled graph to its runs: ports are bound, contexts taken,
// states carried from run to run.
#include "runtime/compiled_graph.h"

#include <utility>

#include "base/trace.h"
#include "runtime/ended_run.h"
#include "runtime/inside_run.h"

namespace tim::runtime {
namespace {

/// A run from its beginning to its end, on the thread that waits for it.
class TracedRun {
 public:
  explicit TracedRun(const Executable& executable)
      : text_(TraceEnabled() ? &executable.trace_text() : nullptr),
        begin_(text_ != nullptr ? TraceBegin() : 0) {}
  TracedRun(const TracedRun&) = delete;
  TracedRun& operator=(const TracedRun&) = delete;
  ~TracedRun() {
    if (text_ != nullptr) RecordTrace(text_->run(), begin_, TraceNow());
  }

 private:
  const RunText* const text_;
  const int64_t begin_;
};

}  // namespace

Result<std::unique_ptr<CompiledGraph>> CompiledGraph::Create(
    const compiler::InferredGraph& graph,
    const compiler::CompileOptions& options, const Surroundings& surroundings,
    std::shared_ptr<SharedArenas> arenas) {
  TIM_ASSIGN_OR_RETURN(
      ReadyGraph ready,
      CompileAndPrepare(graph, options, surroundings, std::move(arenas)));
  return Of(std::move(ready));
}

Result<std::unique_ptr<CompiledGraph>> CompiledGraph::Load(
    ir::Plan plan, const Surroundings& surroundings) {
  TIM_ASSIGN_OR_RETURN(ReadyGraph ready,
                       Prepare(std::move(plan), surroundings));
  return Of(std::move(ready));
}

Result<std::unique_ptr<CompiledGraph>> CompiledGraph::Of(ReadyGraph ready) {
  std::unique_ptr<CompiledGraph> graph(new CompiledGraph());
  graph->executable_ = std::move(ready.executable);
  if (ready.context == nullptr) {
    TIM_ASSIGN_OR_RETURN(ready.context,
                         ExecutionContext::CreateAnother(graph->executable_));
  }
  graph->pool_ =
      ContextPool::Create(graph->executable_, std::move(ready.context));
  if (!graph->plan().states.empty()) {
    TIM_ASSIGN_OR_RETURN(graph->states_, StateSet::Create(graph->executable_));
  }
  return graph;
}

template <typename Function>
Status CompiledGraph::RunBound(std::span<const PortMemory> inputs,
                               std::span<const PortMemory> outputs,
                               const Function& run) {
  const TracedRun span(*executable_);
  std::unique_lock lock(run_mutex_.Get(), std::defer_lock);
  // The run that has the lock may wait for the one that this is inside of.
  if (!IsInsideAnyRun()) {
    lock.lock();
  } else if (!lock.try_lock()) {
    return FailedPrecondition(
        "inside a function that a run calls: another thread runs graph ",
        plan().graph,
        ", and may wait for that function; start this run where no function "
        "does, or when the other one has ended");
  }
  pool_->Drain();
  TIM_RETURN_IF_ERROR(binding_.Bind(plan(), inputs, outputs));
  binding_.CopyInputs();
  TIM_RETURN_IF_ERROR(run());
  binding_.CopyOutputs();
  return OkStatus();
}

Status CompiledGraph::Run(std::span<const PortMemory> inputs,
                          std::span<const PortMemory> outputs,
                          GivenArenas arenas) {
  if (observer_ != nullptr) return RunObserved(inputs, outputs, *observer_);
  const bool has_states = states_ != nullptr;
  if (has_states ? IsInsideRunOf(*executable_) : IsInsideAnyRun()) {
    return RunInside(inputs, outputs, arenas);
  }
  return RunBound(inputs, outputs, [this, arenas] {
    return pool_->Run(binding_.inputs(), binding_.outputs(), states_.get(),
                      arenas);
  });
}

// The run around it may be one that RunBound() does or waits for, or that
// another thread waits for in RunBound().
Status CompiledGraph::RunInside(std::span<const PortMemory> inputs,
                                std::span<const PortMemory> outputs,
                                GivenArenas arenas) {
  const TracedRun span(*executable_);
  pool_->Drain();
  PortBinding binding;
  TIM_RETURN_IF_ERROR(binding.Bind(plan(), inputs, outputs));
  binding.CopyInputs();
  TIM_RETURN_IF_ERROR(
      pool_->Run(binding.inputs(), binding.outputs(), states_.get(), arenas));
  binding.CopyOutputs();
  return OkStatus();
}

Status CompiledGraph::RunObserved(std::span<const PortMemory> inputs,
                                  std::span<const PortMemory> outputs,
                                  RunObserver& observer) {
  if (IsInsideRunOf(*executable_)) {
    return FailedPrecondition(
        "inside a function that a run calls: a run of the same graph that is "
        "profiled or dumped starts only after it has returned");
  }
  return RunBound(inputs, outputs, [&]() -> Status {
    std::unique_ptr<ObservedRun>& observed = observed_.Get();
    if (observed == nullptr) {
      TIM_ASSIGN_OR_RETURN(observed, ObservedRun::Create(executable_));
    }
    if (states_ != nullptr) TIM_RETURN_IF_ERROR(states_->WaitForRun());
    const InsideRun inside({executable_.get(), states_.get()});
    return observed->Run(binding_.inputs(), binding_.outputs(), states_.get(),
                         observer);
  });
}

Result<std::shared_ptr<RunEvent>> CompiledGraph::RunNow(
    std::span<const PortMemory> inputs, std::span<const PortMemory> outputs,
    const std::vector<std::shared_ptr<RunEvent>>& waits,
    const std::function<Status(Status)>& end) {
  // Arguments that Enqueue() refuses at once make no run.
  TIM_RETURN_IF_ERROR(PortBinding().Bind(plan(), inputs, outputs));
  Status status;
  for (const auto& wait : waits) {
    const Status ended = wait->Wait();
    if (status.ok()) status = ended.WithContext("a run that this one awaits");
  }
  if (status.ok()) status = RunObserved(inputs, outputs, *observer_);
  if (end != nullptr) status = end(std::move(status));
  return std::shared_ptr<RunEvent>(
      std::make_shared<EndedRun>(std::move(status)));
}

namespace {

/// A run in memory that its ports are bound to.
struct BoundRun {
  RunPorts ports;
  RunCalls calls;
};

Result<BoundRun> BindRun(const ir::Plan& plan,
                         std::span<const PortMemory> inputs,
                         std::span<const PortMemory> outputs,
                         std::function<Status(Status)> end) {
  const auto binding = std::make_shared<PortBinding>();
  TIM_RETURN_IF_ERROR(binding->Bind(plan, inputs, outputs));
  BoundRun run;
  run.ports.inputs = {binding->inputs().begin(), binding->inputs().end()};
  run.ports.outputs = {binding->outputs().begin(), binding->outputs().end()};
  // An input may be what an awaited run writes.
  run.calls.begin = [binding] { binding->CopyInputs(); };
  run.calls.end = [binding, end = std::move(end)](Status status) {
    if (status.ok()) binding->CopyOutputs();
    return end != nullptr ? end(std::move(status)) : status;
  };
  return run;
}

}  // namespace

Result<std::shared_ptr<RunEvent>> CompiledGraph::Enqueue(
    std::span<const PortMemory> inputs, std::span<const PortMemory> outputs,
    std::vector<std::shared_ptr<RunEvent>> waits,
    std::function<Status(Status)> end, GivenArenas arenas) {
  if (observer_ != nullptr) return RunNow(inputs, outputs, waits, end);
  const TraceSpan span("run", "RunAsync", plan().graph);
  TIM_ASSIGN_OR_RETURN(BoundRun run,
                       BindRun(plan(), inputs, outputs, std::move(end)));
  run.ports.arenas = {arenas.begin(), arenas.end()};
  return pool_->Enqueue(std::move(run.ports), states_, std::move(waits),
                        std::move(run.calls));
}

Result<std::shared_ptr<RunEvent>> CompiledGraph::EnqueueIfFree(
    std::span<const PortMemory> inputs, std::span<const PortMemory> outputs,
    std::vector<std::shared_ptr<RunEvent>> waits,
    std::function<Status(Status)> end, ContextPool::Reservation reserved) {
  const TraceSpan span("run", "RunAsync", plan().graph);
  TIM_ASSIGN_OR_RETURN(BoundRun run,
                       BindRun(plan(), inputs, outputs, std::move(end)));
  return pool_->EnqueueIfFree(std::move(run.ports), states_, std::move(waits),
                              std::move(run.calls), std::move(reserved));
}

Result<std::shared_ptr<RunEvent>> CompiledGraph::TryEnqueue(
    std::span<const PortMemory> inputs, std::span<const PortMemory> outputs,
    std::vector<std::shared_ptr<RunEvent>> after,
    std::function<Status(Status)> end) {
  if (observer_ != nullptr || states_ != nullptr) {
    return std::shared_ptr<RunEvent>();
  }
  TIM_RETURN_IF_ERROR(CheckBinding(plan(), inputs, outputs));
  if (NeedsCopies(plan(), inputs, outputs)) return std::shared_ptr<RunEvent>();
  return pool_->TryEnqueue(
      {{inputs.begin(), inputs.end()}, {outputs.begin(), outputs.end()}},
      std::move(after), {.end = std::move(end)});
}

}  // namespace tim::runtime
