// Compiled graphs and binary graphs: what is written of them, and those that
// are an NBG alone, which run the plan that it holds.
#include <utility>

#include "base/log.h"
#include "compiler/compiler.h"
#include "vx/binary/stored_plan.h"
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

// Names the plan's tensors after those that are bound.  False where one is not
// as the plan has it, or is there twice: a compilation says what is wrong.
bool Rename(const Tensors& bound, const std::vector<binary::Port>& ports,
            TensorAttribute attribute, std::vector<ir::PlanTensor>* tensors,
            LoweredGraph* lowered) {
  if (bound.size() != ports.size()) return false;
  size_t next = 0;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].unused) continue;
    auto tensor = Fitting(bound[i], ports[i], attribute);
    if (tensor == nullptr) return false;
    for (const LoweredTensor& entry : lowered->tensors) {
      if (entry.tensor == tensor) return false;
    }
    (*tensors)[next].name = tensor->Name();
    ++next;
    const ir::ValueId id = lowered->graph.AddValue(
        ports[i].desc, ir::Role::kTransient, tensor->Name());
    lowered->tensors.push_back({std::move(tensor), id});
  }
  return true;
}

}  // namespace

std::unique_ptr<CompiledGraph> CompiledGraph::CreateStored(
    const GraphCore& core, const Operations& operations,
    const Operations& effective, const Devices& devices) {
  if (effective.size() != 1) return nullptr;
  const OpImpl& impl = *effective[0]->impl();
  const ContextOptions& context = core.context->options;
  if (impl.binary == nullptr || impl.core.get() != &core ||
      !impl.problem.ok() || context.placement != nullptr ||
      context.operators != nullptr) {
    return nullptr;
  }
  const binary::Blob& blob = impl.binary->blob();
  auto plan =
      UsablePlan(blob, devices, ir::PlanOptions{.strict = context.strict});
  if (!plan || !plan->states.empty()) return nullptr;
  LoweredGraph lowered;
  if (!Rename(impl.inputs, blob.inputs, INPUT, &plan->inputs, &lowered) ||
      !Rename(impl.outputs, blob.outputs, OUTPUT, &plan->outputs, &lowered)) {
    return nullptr;
  }
  plan->graph = core.name;
  std::unique_ptr<CompiledGraph> compiled(new CompiledGraph());
  compiled->effective_ = effective;
  auto ready = runtime::Prepare(
      *std::move(plan), SurroundingsOf(core, effective, devices, nullptr));
  Status status = ready.status();
  if (status.ok()) status = compiled->Take(*std::move(ready));
  if (status.ok()) status = compiled->BindTensors(lowered);
  if (!status.ok()) {
    TIM_LOG(kInfo, "graph ", core.name,
            " is compiled anew: the plan of its binary graph cannot run: ",
            status.message());
    return nullptr;
  }
  compiled->Remember(operations, lowered);
  return compiled;
}

Status CompiledGraph::MakeSource(const GraphCore& core, const Tensors& io) {
  TIM_ASSIGN_OR_RETURN(LoweredGraph lowered, Lower(core, effective_, io));
  TIM_RETURN_IF_ERROR(compiler::InferGraph(&lowered.graph, *lowered.registry));
  source_.graph = std::move(lowered.graph);
  for (const LoweredTensor& entry : lowered.tensors) {
    source_.tensors.emplace_back(entry.tensor, entry.value);
  }
  source_.registry = std::move(lowered.registry);
  return OkStatus();
}

Result<GraphBinary> CompiledGraph::Binary(const GraphCore& core,
                                          const Tensors& inputs,
                                          const Tensors& outputs) {
  for (size_t i = 0; i < plan().devices.size(); ++i) {
    TIM_RETURN_IF_ERROR(executable_->device(static_cast<int>(i)).CheckUsable());
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
    programs_ =
        std::make_shared<const binary::Programs>(ProgramsOf(*executable_));
  }
  AddStored(plan(), programs_, &made);
  return made;
}

}  // namespace tim::vx
