// Composed operations: when they are wired, and what is theirs.
#include "tim/vx/composed_op.h"

#include <algorithm>

#include "vx/core/failure.h"
#include "vx/operation/composition.h"

namespace tim::vx {
namespace {

using Tensors = std::vector<std::shared_ptr<Tensor>>;

// Operations created while it lives belong to a composed one.
class Scope {
 public:
  explicit Scope(const OpImpl& operation) : operation_(operation) {
    operation.core->scopes.push_back(operation.uid);
  }
  ~Scope() { EndScope(operation_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  const OpImpl& operation_;
};

Status Wire(OpImpl& operation, Composition& composition) {
  composition.wired = true;
  Graph* graph = operation.core != nullptr ? operation.core->graph : nullptr;
  if (graph == nullptr) {
    return FailedPrecondition("the operation has no graph of this library");
  }
  Tensors inputs = operation.inputs;
  inputs.resize(composition.inputs + composition.optional_inputs,
                graph->CreateTensorPlaceHolder());
  const Tensors outputs = operation.outputs;
  const Scope scope(operation);
  return CallUser([&] { composition.self->Wire(graph, inputs, outputs); })
      .WithContext("Wire()");
}

Status CheckCount(const char* what, size_t bound, uint32_t required,
                  uint32_t optional) {
  if (bound >= required && bound <= size_t{required} + optional) {
    return OkStatus();
  }
  return InvalidArgument(
      bound, " ", what, "s are bound, expected ",
      optional == 0 ? StrCat(required)
                    : StrCat(required, " to ", size_t{required} + optional));
}

// "user.<Class>", or a composed operator of this library's.
Status CheckName(const OpImpl& operation) {
  const ir::OpSchema* schema = operation.Schema();
  if (schema != nullptr && schema->decompose) return OkStatus();
  const std::string& name = operation.name;
  if (name.rfind("user.", 0) == 0 && name.size() > 5 &&
      name.find('#') == std::string::npos) {
    return OkStatus();
  }
  return InvalidArgument("a composed operator cannot be named '", name,
                         "'; the name must be user.<Class>");
}

// The graph loses every operation that is younger than `uid`.
void Forget(GraphCore& core, uint32_t uid) {
  if (core.graph == nullptr) return;
  const auto younger = [uid](const std::shared_ptr<Operation>& operation) {
    return operation != nullptr && operation->impl()->uid > uid;
  };
  if (core.replacements != nullptr) std::erase_if(*core.replacements, younger);
  std::erase_if(core.graph->TensorProducer(),
                [&](const auto& entry) { return younger(entry.second); });
  auto& consumers = core.graph->TensorConsumer();
  for (auto& entry : consumers) std::erase_if(entry.second, younger);
  std::erase_if(consumers, [](const auto& e) { return e.second.empty(); });
  std::erase_if(core.graph->OpVector(), younger);
}

}  // namespace

ComposedOp::ComposedOp(Graph* graph, const char* domain_and_name,
                       uint32_t inputs, uint32_t outputs,
                       uint32_t optional_inputs,
                       std::initializer_list<NamedAttribute> attributes) {
  impl_->name = domain_and_name != nullptr ? domain_and_name : "";
  impl_->SetAttributes(attributes);
  impl_->kind = Composition{.self = this,
                            .inputs = inputs,
                            .optional_inputs = optional_inputs,
                            .outputs = outputs};
  impl_->Join(CoreOf(graph));
  if (impl_->core != nullptr) impl_->core->scopes.push_back(impl_->uid);
}

// One that is still open was never finished: what it made, the younger
// operations of the graph, goes with it.
ComposedOp::~ComposedOp() {
  if (impl_->core == nullptr) return;
  const std::vector<uint32_t>& scopes = impl_->core->scopes;
  const bool open =
      std::find(scopes.begin(), scopes.end(), impl_->uid) != scopes.end();
  EndScope(*impl_);
  if (open) Forget(*impl_->core, impl_->uid);
}

void EndScope(const OpImpl& operation) {
  if (operation.As<Composition>() == nullptr || operation.core == nullptr) {
    return;
  }
  std::vector<uint32_t>& scopes = operation.core->scopes;
  scopes.erase(std::find(scopes.begin(), scopes.end(), operation.uid),
               scopes.end());
}

void WireIfComplete(OpImpl& operation) {
  auto* composition = operation.As<Composition>();
  if (composition == nullptr) return;
  if (!composition->wired) EndScope(operation);
  if (composition->wired || !operation.problem.ok() ||
      operation.inputs.size() <
          size_t{composition->inputs} + composition->optional_inputs ||
      operation.outputs.size() < composition->outputs) {
    return;
  }
  const Status status = Wire(operation, *composition);
  if (!status.ok()) operation.Refuse(status);
}

Status WireAtLast(OpImpl& operation) {
  auto* composition = operation.As<Composition>();
  if (composition == nullptr) return OkStatus();
  EndScope(operation);
  TIM_RETURN_IF_ERROR(operation.problem);
  TIM_RETURN_IF_ERROR(CheckName(operation));
  TIM_RETURN_IF_ERROR(CheckCount("input", operation.inputs.size(),
                                 composition->inputs,
                                 composition->optional_inputs));
  TIM_RETURN_IF_ERROR(
      CheckCount("output", operation.outputs.size(), composition->outputs, 0));
  if (composition->wired) return OkStatus();
  operation.problem = AsFinal(Wire(operation, *composition));
  return operation.problem;
}

}  // namespace tim::vx
