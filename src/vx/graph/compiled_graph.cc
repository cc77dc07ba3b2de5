#include "vx/graph/compiled_graph.h"

#include <algorithm>
#include <string>

#include "base/log.h"
#include "compiler/compiler.h"
#include "runtime/compile_options.h"
#include "runtime/stored_plan.h"
#include "vx/core/failure.h"
#include "vx/operation/op_impl.h"

namespace tim::vx {
namespace {

std::pair<uint64_t, uint64_t> OverridesRevision(const GraphCore& core) {
  return {core.overrides.revision(), core.context->overrides->revision()};
}

compiler::CompileOptions OptionsFor(GraphCore& core, const Devices& devices) {
  compiler::CompileOptions out = runtime::CompileOptionsFor(devices);
  out.strict = core.context->options.strict;
  out.lenient = core.context->options.lenient;
  out.known_doubts = &core.known_doubts;
  return out;
}

// An INPUT that nothing reads is legal, and most likely a mistake.
void WarnOfUnused(const LoweredGraph& lowered,
                  const std::vector<std::shared_ptr<Tensor>>& io) {
  for (const auto& tensor : io) {
    if (std::any_of(lowered.tensors.begin(), lowered.tensors.end(),
                    [&](const auto& used) { return used.tensor == tensor; })) {
      continue;
    }
    TIM_LOG(kWarning, "graph ", lowered.graph.name(),
            ": no operation uses the ",
            tensor->GetSpec().attr_ == INPUT ? "INPUT" : "OUTPUT", " tensor ",
            NameOf(*tensor));
  }
}

// What has no effect would be dropped, and Run() would do nothing.
Status CheckReaches(const LoweredGraph& lowered, size_t operations) {
  const ir::Graph& graph = lowered.graph;
  if (!graph.outputs().empty() || !graph.state_updates().empty()) {
    return OkStatus();
  }
  return InvalidArgument("graph ", graph.name(), ": none of its ", operations,
                         " operations reaches an OUTPUT or a VARIABLE tensor, "
                         "so that none would run; create the tensors that you "
                         "read as OUTPUT");
}

Status StoreInferred(const LoweredGraph& lowered, const ir::Graph& inferred) {
  for (const LoweredTensor& entry : lowered.tensors) {
    TIM_RETURN_IF_ERROR(
        entry.tensor->StoreInferred(inferred.value(entry.value).desc));
  }
  return OkStatus();
}

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
    const std::vector<std::shared_ptr<Tensor>>& io) {
  const auto overrides = OverridesRevision(core);
  TIM_ASSIGN_OR_RETURN(const Devices devices,
                       core.context->DevicesFor(core.options));
  for (const auto& device : devices) {
    TIM_RETURN_IF_ERROR(device->CheckUsable());
  }
  TIM_ASSIGN_OR_RETURN(const Operations effective,
                       EffectiveOperations(core, operations));
  if (auto stored = CreateStored(core, operations, effective, devices)) {
    stored->overrides_revision_ = overrides;
    return stored;
  }
  TIM_ASSIGN_OR_RETURN(const LoweredGraph lowered, Lower(core, effective, io));
  WarnOfUnused(lowered, io);
  const compiler::CompileOptions options = OptionsFor(core, devices);
  TIM_ASSIGN_OR_RETURN(
      compiler::InferredGraph inferred,
      compiler::Infer(lowered.graph, *lowered.registry, options));
  TIM_RETURN_IF_ERROR(
      SetUp(lowered.custom_operators).WithContext(StrCat("graph ", core.name)));
  std::unique_ptr<CompiledGraph> compiled(new CompiledGraph());
  TIM_ASSIGN_OR_RETURN(
      compiled->graph_,
      runtime::CompiledGraph::Create(
          inferred, options,
          SurroundingsOf(core, effective, devices, lowered.registry)));
  TIM_RETURN_IF_ERROR(CheckReaches(lowered, effective.size()));
  compiled->overrides_revision_ = overrides;
  compiled->device_id_ = core.options.getDeviceId();
  compiled->effective_ = effective;
  TIM_RETURN_IF_ERROR(StoreInferred(lowered, inferred.graph));
  TIM_RETURN_IF_ERROR(compiled->BindTensors(lowered));
  compiled->Remember(operations, lowered);
  compiled->source_ = SourceOf(lowered, std::move(inferred.graph));
  return compiled;
}

runtime::Surroundings CompiledGraph::SurroundingsOf(
    const GraphCore& core, const Operations& operations, const Devices& devices,
    std::shared_ptr<const ir::OpRegistry> operators) {
  auto programs = core.context->options.programs;
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

void CompiledGraph::Remember(const Operations& operations,
                             const LoweredGraph& lowered) {
  for (const auto& operation : operations) {
    operations_.emplace_back(operation, operation->impl()->revision);
  }
  for (const LoweredTensor& entry : lowered.tensors) {
    tensors_.emplace_back(entry.tensor, entry.tensor->revision());
  }
}

bool CompiledGraph::IsCurrent(const GraphCore& core,
                              const Operations& operations) const {
  return overrides_revision_ == OverridesRevision(core) &&
         device_id_ == core.options.getDeviceId() &&
         std::equal(operations_.begin(), operations_.end(), operations.begin(),
                    operations.end(),
                    [](const auto& then, const auto& now) {
                      return then.first == now &&
                             then.second == now->impl()->revision;
                    }) &&
         std::all_of(tensors_.begin(), tensors_.end(), [](const auto& then) {
           return then.second == then.first->revision();
         });
}

Status CompiledGraph::Run() {
  graph_->Drain();
  Status status = buffers_.Prepare();
  if (status.ok()) status = graph_->Run(buffers_.inputs(), buffers_.outputs());
  return buffers_.Finish(std::move(status));
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
  return graph_->Enqueue(inputs, outputs, {}, done);
}

}  // namespace tim::vx
