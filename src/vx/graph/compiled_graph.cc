#include "vx/graph/compiled_graph.h"

#include <algorithm>
#include <string>

#include "base/log.h"
#include "base/log_capture.h"
#include "compiler/compiler.h"
#include "runtime/ended_run.h"
#include "runtime/stored_plan.h"
#include "vx/core/failure.h"
#include "vx/operation/op_impl.h"

namespace tim::vx {
namespace {

// The memory of tensors is that of the plan's ports.
Status CheckPorts(const std::vector<ir::PlanTensor>& ports,
                  const std::vector<std::shared_ptr<TensorImpl>>& tensors) {
  if (ports.size() != tensors.size()) {
    return TIM_INTERNAL("the plan has ", ports.size(), " ports for ",
                        tensors.size(), " tensors");
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(ports[i].desc));
    const HandleStorage* storage = tensors[i]->handle();
    if (storage != nullptr && storage->bytes == bytes) continue;
    return TIM_INTERNAL("the plan's tensor ", ports[i].name, " (",
                        ports[i].desc.ToString(), ") is not tensor ",
                        tensors[i]->Name());
  }
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<CompiledGraph>> CompiledGraph::Create(
    GraphCore& core, const Operations& operations,
    const std::vector<std::shared_ptr<Tensor>>& io,
    std::unique_ptr<InferredSource> known, ReadyNbg* ready) {
  GraphRevision revision(core, io.size());
  TIM_ASSIGN_OR_RETURN(const Devices devices,
                       core.context->DevicesFor(core.options));
  for (const auto& device : devices) {
    TIM_RETURN_IF_ERROR(device->CheckUsable());
  }
  const compiler::CompileOptions options = OptionsFor(core, devices);
  if (known == nullptr) {
    TIM_ASSIGN_OR_RETURN(const Operations effective,
                         EffectiveOperations(core, operations));
    // A stored plan has no passes, and does not say what its steps have.
    auto stored = core.dump != nullptr
                      ? nullptr
                      : CreateStored(core, revision, operations, effective,
                                     devices, ready);
    if (stored != nullptr) {
      if (IsRecorded(core)) stored->RecordStored(core, io, devices);
      return stored;
    }
    TIM_ASSIGN_OR_RETURN(
        known, InferSource(core, std::move(revision), operations, effective, io,
                           options));
  }
  const LoweredGraph& lowered = known->lowered;
  if (core.dump != nullptr) core.dump->AddGraph(known->inferred.graph);
  std::unique_ptr<CompiledGraph> compiled(new CompiledGraph());
  // Before a driver compiles anything, which may end the process.
  if (IsRecorded(core)) {
    compiled->record_ = GraphRecord::Begin(
        core, SourceOf(lowered, known->inferred), io, devices);
  }
  const ir::PackedForms packed;
  auto graph = runtime::CompiledGraph::Create(
      known->inferred, options,
      SurroundingsOf(core.context->options, known->effective, devices,
                     lowered.registry));
  compiled->EndCompileOfRecord(graph.status());
  TIM_ASSIGN_OR_RETURN(compiled->graph_, std::move(graph));
  compiled->revision_ = std::move(known->revision);
  compiled->effective_ = known->effective;
  TIM_RETURN_IF_ERROR(StoreInferred(lowered, known->inferred.graph));
  TIM_RETURN_IF_ERROR(compiled->BindTensors(lowered));
  compiled->source_ = SourceOf(lowered, std::move(known->inferred));
  compiled->forms_ = packed.forms();
  compiled->dump_ = core.dump;
  if (core.dump != nullptr) core.dump->AddPlan(compiled->plan());
  return compiled;
}

runtime::Surroundings CompiledGraph::SurroundingsOf(
    const ContextOptions& context, const Operations& operations,
    const Devices& devices, std::shared_ptr<const ir::OpRegistry> operators) {
  auto programs = context.programs;
  for (const auto& operation : operations) {
    const auto* nbg = operation->impl()->As<NbgContent>();
    if (nbg == nullptr) continue;
    programs = runtime::WithPrograms(nbg->blob(), std::move(programs));
  }
  return {.devices = devices,
          .store = std::move(programs),
          .operators = std::move(operators)};
}

Status CompiledGraph::BindTensors(const LoweredGraph& lowered) {
  TIM_RETURN_IF_ERROR(CheckPorts(plan().inputs, lowered.inputs));
  TIM_RETURN_IF_ERROR(CheckPorts(plan().outputs, lowered.outputs));
  buffers_ = RunBuffers(lowered.inputs, lowered.outputs);
  if (plan().states.size() != lowered.states.size()) {
    return TIM_INTERNAL("the plan has ", plan().states.size(), " states for ",
                        lowered.states.size(), " VARIABLE tensors");
  }
  for (size_t i = 0; i < lowered.states.size(); ++i) {
    TIM_RETURN_IF_ERROR(lowered.states[i]->state()->Attach(
        graph_->states(), static_cast<int>(i)));
  }
  return OkStatus();
}

void CompiledGraph::RecordStored(GraphCore& core,
                                 const std::vector<std::shared_ptr<Tensor>>& io,
                                 const Devices& devices) {
  const auto source = Source(core, io);
  if (source.ok()) {
    record_ = GraphRecord::Begin(core, *source, io, devices);
    EndCompileOfRecord(OkStatus());
  } else {
    WarnNotRecorded(core.name, source.status());
  }
}

void CompiledGraph::EndCompileOfRecord(const Status& status) {
  if (record_ == nullptr) return;
  record_->EndCompile(status);
  if (!record_->has_runs()) record_ = nullptr;
}

Status CompiledGraph::RunBy(const std::function<Status()>& run) {
  graph_->Drain();
  Status status = buffers_.Prepare();
  if (!status.ok()) return buffers_.Finish(std::move(status));
  if (record_ == nullptr) return buffers_.Finish(run());
  const LogCapture messages;  // for the record
  const uint64_t number =
      record_->BeginRun(source_, buffers_.input_tensors(), buffers_.inputs());
  status = run();
  record_->EndRun(number, status, buffers_.output_tensors(),
                  buffers_.outputs());
  return buffers_.Finish(std::move(status));
}

Status CompiledGraph::Run() {
  return RunBy([this] { return RunPrepared(); });
}

Result<std::shared_ptr<runtime::RunEvent>> CompiledGraph::TryEnqueue(
    std::vector<std::shared_ptr<runtime::RunEvent>> after,
    std::function<Status(Status)> end) {
  if (dump_ != nullptr || record_ != nullptr || !buffers_.in_plain_memory()) {
    return std::shared_ptr<runtime::RunEvent>();
  }
  TIM_RETURN_IF_ERROR(buffers_.Prepare());
  return graph_->TryEnqueue(buffers_.inputs(), buffers_.outputs(),
                            std::move(after), std::move(end));
}

Status CompiledGraph::ProfileRun() {
  if (profiler_ == nullptr) {
    profiler_ = std::make_shared<runtime::Profiler>(graph_->executable());
  }
  return RunBy([this] {
    return graph_->RunObserved(buffers_.inputs(), buffers_.outputs(),
                               *profiler_);
  });
}

Status CompiledGraph::RunPrepared() {
  const auto dump = dump_ != nullptr ? dump_->BeginRun(plan()) : nullptr;
  if (dump == nullptr) {
    return graph_->Run(buffers_.inputs(), buffers_.outputs());
  }
  return RunDumped(*dump, buffers_.inputs(), buffers_.outputs());
}

Status CompiledGraph::RunDumped(RunDump& dump,
                                std::span<const runtime::PortMemory> inputs,
                                std::span<const runtime::PortMemory> outputs) {
  dump.AddInputs(inputs);
  const Status status = graph_->RunObserved(inputs, outputs, dump);
  if (status.ok()) dump.AddOutputs(outputs);
  dump_->EndRun(dump);
  return status;
}

Result<std::shared_ptr<runtime::RunEvent>> CompiledGraph::EnqueueOrDump(
    std::span<const runtime::PortMemory> inputs,
    std::span<const runtime::PortMemory> outputs,
    std::function<Status(Status)> end) {
  const auto dump = dump_ != nullptr ? dump_->BeginRun(plan()) : nullptr;
  if (dump == nullptr) {
    return graph_->Enqueue(inputs, outputs, {}, std::move(end));
  }
  // Before its inputs are read, which runs in flight may write.
  graph_->Drain();
  return std::shared_ptr<runtime::RunEvent>(std::make_shared<runtime::EndedRun>(
      end(RunDumped(*dump, inputs, outputs))));
}

Result<std::shared_ptr<runtime::RunEvent>> CompiledGraph::Enqueue(
    std::span<const runtime::PortMemory> inputs,
    std::span<const runtime::PortMemory> outputs) {
  const auto done = [graph = plan().graph](Status status) {
    if (status.ok()) return status;
    status = status.WithContext(StrCat("a run of graph ", graph));
    TIM_LOG(kError, ErrorText(status));
    return status;
  };
  if (record_ == nullptr) return EnqueueOrDump(inputs, outputs, done);
  // States are read, and outputs told of, of one run at a time.
  graph_->Drain();
  const uint64_t number =
      record_->BeginRun(source_, buffers_.input_tensors(), inputs);
  const auto recorded =
      [done, number, record = record_, tensors = buffers_.output_tensors(),
       memory = std::vector(outputs.begin(), outputs.end())](Status status) {
        record->EndRun(number, status, tensors, memory);
        return done(std::move(status));
      };
  auto run = EnqueueOrDump(inputs, outputs, recorded);
  if (!run.ok()) record_->EndRun(number, run.status(), {}, {});
  return run;
}

}  // namespace tim::vx
