// The road from a compiled graph to its runs: ports are bound, contexts taken,
// states carried from run to run.
#include "runtime/compiled_graph.h"

#include <utility>

#include "base/trace.h"

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
    const compiler::CompileOptions& options, const Surroundings& surroundings) {
  TIM_ASSIGN_OR_RETURN(ReadyGraph ready,
                       CompileAndPrepare(graph, options, surroundings));
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
                         ExecutionContext::Create(graph->executable_));
  }
  graph->pool_ =
      ContextPool::Create(graph->executable_, std::move(ready.context));
  if (!graph->plan().states.empty()) {
    TIM_ASSIGN_OR_RETURN(graph->states_, StateSet::Create(graph->executable_));
  }
  return graph;
}

Status CompiledGraph::Run(std::span<const PortMemory> inputs,
                          std::span<const PortMemory> outputs) {
  const TracedRun span(*executable_);
  const std::lock_guard lock(run_mutex_.Get());
  pool_->Drain();
  TIM_RETURN_IF_ERROR(binding_.Bind(plan(), inputs, outputs));
  binding_.CopyInputs();
  TIM_RETURN_IF_ERROR(
      pool_->Run(binding_.inputs(), binding_.outputs(), states_.get()));
  binding_.CopyOutputs();
  return OkStatus();
}

Result<std::shared_ptr<RunEvent>> CompiledGraph::Enqueue(
    std::span<const PortMemory> inputs, std::span<const PortMemory> outputs,
    std::vector<std::shared_ptr<RunEvent>> waits,
    std::function<Status(Status)> end) {
  const TraceSpan span("run", "RunAsync", plan().graph);
  const auto binding = std::make_shared<PortBinding>();
  TIM_RETURN_IF_ERROR(binding->Bind(plan(), inputs, outputs));
  RunPorts ports{{binding->inputs().begin(), binding->inputs().end()},
                 {binding->outputs().begin(), binding->outputs().end()}};
  // An input may be what an awaited run writes.
  RunCalls calls{.begin = [binding] { binding->CopyInputs(); },
                 .end =
                     [binding, end = std::move(end)](Status status) {
                       if (status.ok()) binding->CopyOutputs();
                       return end != nullptr ? end(std::move(status)) : status;
                     }};
  return pool_->Enqueue(std::move(ports), states_, std::move(waits),
                        std::move(calls));
}

}  // namespace tim::runtime
