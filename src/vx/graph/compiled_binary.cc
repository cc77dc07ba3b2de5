// Compiled graphs and binary graphs: what is written of them, and those that
// are an NBG alone, which run the plan that it holds.
#include <utility>

#include "base/log.h"
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

// The tensors that are bound to a plan's ports, which get their names.  False
// where one is not as the plan has it, or is there twice: a compilation says
// what is wrong.
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
    (*planned)[tensors.size()].name = tensor->Name();
    tensors.push_back(tensor);
    lowered->tensors.push_back({std::move(tensor)});
  }
  return true;
}

}  // namespace

std::unique_ptr<CompiledGraph> CompiledGraph::CreateStored(
    const GraphCore& core, const Operations& operations,
    const Operations& effective, const Devices& devices) {
  if (effective.size() != 1) return nullptr;
  const OpImpl& impl = *effective[0]->impl();
  const auto* nbg = impl.As<NbgContent>();
  const ContextOptions& context = core.context->options;
  if (nbg == nullptr || impl.core.get() != &core || !impl.problem.ok() ||
      context.placement != nullptr || context.operators != nullptr) {
    return nullptr;
  }
  const binary::Blob& blob = nbg->blob();
  auto plan = runtime::UsablePlan(blob, devices,
                                  ir::PlanOptions{.strict = context.strict});
  if (!plan || !plan->states.empty()) return nullptr;
  LoweredGraph lowered;
  if (!BindPorts(impl.inputs, blob.inputs, INPUT, &plan->inputs, &lowered) ||
      !BindPorts(impl.outputs, blob.outputs, OUTPUT, &plan->outputs,
                 &lowered)) {
    return nullptr;
  }
  plan->graph = core.name;
  std::unique_ptr<CompiledGraph> compiled(new CompiledGraph());
  compiled->effective_ = effective;
  auto graph = runtime::CompiledGraph::Load(
      *std::move(plan), SurroundingsOf(core, effective, devices, nullptr));
  Status status = graph.status();
  if (status.ok()) {
    compiled->graph_ = *std::move(graph);
    status = compiled->BindTensors(lowered);
  }
  if (!status.ok()) {
    TIM_LOG(kInfo, "graph ", core.name,
            " is compiled anew: the plan of its binary graph cannot run: ",
            status.message());
    return nullptr;
  }
  compiled->Remember(operations, lowered);
  return compiled;
}

BinarySource CompiledGraph::SourceOf(const LoweredGraph& lowered,
                                     ir::Graph inferred) {
  BinarySource source{.graph = std::move(inferred),
                      .tensors = {},
                      .registry = lowered.registry};
  for (const LoweredTensor& entry : lowered.tensors) {
    source.tensors.emplace_back(entry.tensor, entry.value);
  }
  return source;
}

Status CompiledGraph::MakeSource(const GraphCore& core, const Tensors& io) {
  TIM_ASSIGN_OR_RETURN(LoweredGraph lowered, Lower(core, effective_, io));
  TIM_RETURN_IF_ERROR(compiler::InferGraph(&lowered.graph, *lowered.registry));
  source_ = SourceOf(lowered, std::move(lowered.graph));
  return OkStatus();
}

Result<GraphBinary> CompiledGraph::Binary(const GraphCore& core,
                                          const Tensors& inputs,
                                          const Tensors& outputs) {
  for (size_t i = 0; i < plan().devices.size(); ++i) {
    TIM_RETURN_IF_ERROR(
        graph_->executable().device(static_cast<int>(i)).CheckUsable());
  }
  if (source_.registry == nullptr) {
    Tensors io = inputs;
    io.insert(io.end(), outputs.begin(), outputs.end());
    TIM_RETURN_IF_ERROR(MakeSource(core, io));
  }
  const bool pinned = core.context->options.placement != nullptr ||
                      core.context->options.operators != nullptr;
  TIM_ASSIGN_OR_RETURN(GraphBinary made, BinaryOf(source_, inputs, outputs));
  if (pinned) return made;
  if (programs_ == nullptr) {
    programs_ = std::make_shared<const binary::Programs>(
        runtime::ProgramsOf(graph_->executable()));
  }
  AddStored(plan(), programs_, &made);
  return made;
}

}  // namespace tim::vx
