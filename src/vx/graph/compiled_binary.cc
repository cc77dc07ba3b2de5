// Compiled graphs and binary graphs: what is written of them, and those that
// are an NBG alone, which run the plan that it holds.
#include <optional>
#include <utility>

#include "base/log.h"
#include "binary/graph_body.h"
#include "compiler/compiler.h"
#include "runtime/stored_plan.h"
#include "vx/graph/compiled_graph.h"
#include "vx/operation/op_impl.h"

namespace tim::vx {
namespace {

using Tensors = std::vector<std::shared_ptr<Tensor>>;

// The tensor where it is an operand as the plan has it.
std::shared_ptr<TensorImpl> Fitting(const std::shared_ptr<Tensor>& tensor,
                                    const binary::Port& port,
                                    TensorAttribute attribute) {
  auto made = std::dynamic_pointer_cast<TensorImpl>(tensor);
  if (made == nullptr || !made->problem().ok() ||
      made->attribute() != attribute || made->handle() == nullptr ||
      made->handle()->memory == nullptr) {
    return nullptr;
  }
  const auto desc = made->DeclaredDesc();
  if (!desc.ok() || desc->shape != port.desc.shape ||
      !ir::SameElements(*desc, port.desc)) {
    return nullptr;
  }
  return made;
}

// The tensors that are bound to the ports of a plan; `planned`, which may be
// null, get their names.  False where one is not as the plan has it, or is
// there twice: a compilation says what is wrong.
bool BindPorts(const Tensors& bound, const std::vector<binary::Port>& ports,
               TensorAttribute attribute, std::vector<ir::PlanTensor>* planned,
               LoweredGraph* lowered) {
  if (bound.size() != ports.size()) return false;
  auto& tensors = attribute == INPUT ? lowered->inputs : lowered->outputs;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].unused) continue;
    auto tensor = Fitting(bound[i], ports[i], attribute);
    if (tensor == nullptr) return false;
    for (const LoweredTensor& entry : lowered->tensors) {
      if (entry.tensor == tensor) return false;
    }
    if (planned != nullptr) (*planned)[tensors.size()].name = tensor->Name();
    tensors.push_back(tensor);
    lowered->tensors.push_back({std::move(tensor)});
  }
  return true;
}

bool IsFor(const runtime::Executable& executable, const ContextOptions& context,
           const Devices& devices) {
  const ir::Plan& plan = executable.plan();
  if (plan.options != ir::PlanOptions{.strict = context.strict} ||
      plan.devices.size() != devices.size()) {
    return false;
  }
  for (size_t i = 0; i < devices.size(); ++i) {
    if (&executable.device(static_cast<int>(i)) != devices[i].get()) {
      return false;
    }
  }
  return true;
}

// Those of a context are chosen or found in ways that no plan tells of.
bool IsPinned(const ContextOptions& context) {
  return context.placement != nullptr || context.operators != nullptr;
}

/// What runs a graph that is an NBG and nothing else: nothing where there is
/// none for here.
using Stored = std::optional<Result<std::unique_ptr<runtime::CompiledGraph>>>;

// The states' tensors, in the order of the plan.
Status BindStates(const OpImpl& operation, NbgContent& nbg, size_t states,
                  LoweredGraph* lowered) {
  if (states == 0) return OkStatus();
  const binary::GraphBody body = binary::AsBody(nbg.blob().frozen->graph);
  TIM_RETURN_IF_ERROR(
      nbg.MakeStates(operation.core, operation.InstanceName(), body.states));
  for (const auto& tensor : nbg.Inputs({})) {
    auto state = std::static_pointer_cast<TensorImpl>(tensor);
    lowered->states.push_back(state);
    lowered->tensors.push_back({std::move(state)});
  }
  return OkStatus();
}

// What an executor compiled.
Stored UseReady(const OpImpl& operation, NbgContent& nbg,
                runtime::ReadyGraph* ready, LoweredGraph* lowered) {
  const binary::Blob& blob = nbg.blob();
  if (!BindPorts(operation.inputs, blob.inputs, INPUT, nullptr, lowered) ||
      !BindPorts(operation.outputs, blob.outputs, OUTPUT, nullptr, lowered)) {
    return std::nullopt;
  }
  const Status states = BindStates(
      operation, nbg, ready->executable->plan().states.size(), lowered);
  if (!states.ok()) return states;
  return runtime::CompiledGraph::Of(
      {.executable = ready->executable, .context = std::move(ready->context)});
}

// The plan of `effective`, the one operation of a graph.
Stored LoadPlan(const GraphCore& core, const Operations& effective,
                const binary::Blob& blob, const Devices& devices,
                LoweredGraph* lowered) {
  const OpImpl& operation = *effective[0]->impl();
  const ContextOptions& context = core.context->options;
  auto plan = runtime::UsablePlan(blob, devices,
                                  ir::PlanOptions{.strict = context.strict});
  if (!plan || !plan->states.empty() ||
      !BindPorts(operation.inputs, blob.inputs, INPUT, &plan->inputs,
                 lowered) ||
      !BindPorts(operation.outputs, blob.outputs, OUTPUT, &plan->outputs,
                 lowered)) {
    return std::nullopt;
  }
  plan->graph = core.name;
  return runtime::CompiledGraph::Load(
      *std::move(plan),
      CompiledGraph::SurroundingsOf(context, effective, devices, nullptr));
}

}  // namespace

std::unique_ptr<CompiledGraph> CompiledGraph::CreateStored(
    const GraphCore& core, const GraphRevision& revision,
    const Operations& operations, const Operations& effective,
    const Devices& devices, ReadyNbg* ready) {
  if (effective.size() != 1) return nullptr;
  OpImpl& impl = *effective[0]->impl();
  auto* nbg = impl.As<NbgContent>();
  const ContextOptions& context = core.context->options;
  if (nbg == nullptr || impl.core.get() != &core || !impl.problem.ok() ||
      IsPinned(context)) {
    return nullptr;
  }
  const bool is_ready = ready != nullptr &&
                        ready->operation == effective[0].get() &&
                        ready->graph.executable != nullptr &&
                        IsFor(*ready->graph.executable, context, devices);
  LoweredGraph lowered;
  Stored stored =
      is_ready ? UseReady(impl, *nbg, &ready->graph, &lowered)
               : LoadPlan(core, effective, nbg->blob(), devices, &lowered);
  if (!stored) return nullptr;
  std::unique_ptr<CompiledGraph> compiled(new CompiledGraph());
  compiled->effective_ = effective;
  Status status = stored->status();
  if (status.ok()) {
    compiled->graph_ = **std::move(stored);
    status = compiled->BindTensors(lowered);
  }
  if (!status.ok()) {
    TIM_LOG(kInfo, "graph ", core.name,
            " is compiled anew: the plan of its binary graph cannot run: ",
            status.message());
    return nullptr;
  }
  compiled->revision_ = revision;
  compiled->revision_.Take(operations, lowered);
  return compiled;
}

std::shared_ptr<const runtime::Executable> CompiledGraph::ExecutableFor(
    const ContextOptions& context, const Devices& devices) const {
  const bool serves = !IsPinned(context) &&
                      IsFor(*graph_->executable(), context, devices) &&
                      !runtime::CallsUsers(plan());
  return serves ? graph_->executable() : nullptr;
}

BinarySource CompiledGraph::SourceOf(const LoweredGraph& lowered,
                                     compiler::InferredGraph inferred) {
  BinarySource source{
      .graph = std::move(inferred.graph),
      .tensors = {},
      .registry = lowered.registry,
      .declared_reshapes = std::move(inferred.declared_reshapes)};
  for (const LoweredTensor& entry : lowered.tensors) {
    source.tensors.emplace_back(entry.tensor, entry.value);
  }
  return source;
}

Result<BinarySource> CompiledGraph::Source(const GraphCore& core,
                                           const Tensors& io) {
  if (source_.registry == nullptr) {
    TIM_ASSIGN_OR_RETURN(LoweredGraph lowered, Lower(core, effective_, io));
    TIM_RETURN_IF_ERROR(
        compiler::InferGraph(&lowered.graph, *lowered.registry));
    source_ = SourceOf(lowered, {std::move(lowered.graph), {}});
  }
  BinarySource source = source_;
  for (const auto& [tensor, id] : source.tensors) {
    if (tensor->constant() == nullptr) continue;
    ir::Value& value = source.graph.value(id);
    if (value.constant != nullptr) continue;
    TIM_ASSIGN_OR_RETURN(value.constant, tensor->constant()->SharedData());
  }
  return source;
}

Result<GraphBinary> CompiledGraph::Binary(const GraphCore& core,
                                          const Tensors& inputs,
                                          const Tensors& outputs) {
  for (size_t i = 0; i < plan().devices.size(); ++i) {
    TIM_RETURN_IF_ERROR(
        graph_->executable()->device(static_cast<int>(i)).CheckUsable());
  }
  Tensors io = inputs;
  io.insert(io.end(), outputs.begin(), outputs.end());
  TIM_ASSIGN_OR_RETURN(const BinarySource source, Source(core, io));
  TIM_ASSIGN_OR_RETURN(GraphBinary made, BinaryOf(source, inputs, outputs));
  if (IsPinned(core.context->options)) return made;
  if (programs_ == nullptr) {
    programs_ = std::make_shared<const binary::Programs>(
        runtime::ProgramsOf(*graph_->executable()));
  }
  AddStored(plan(), programs_, &made);
  return made;
}

}  // namespace tim::vx
