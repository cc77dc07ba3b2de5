// What all graphs share.
#include "tim/vx/graph.h"

#include "tim/vx/operation.h"
#include "vx/core/failure.h"
#include "vx/core/graph_core.h"
#include "vx/graph/graph_impl.h"
#include "vx/operation/composition.h"
#include "vx/operation/op_impl.h"

namespace tim::vx {

RunEvent Graph::RunAsync(const std::vector<const void*>& inputs,
                         const std::vector<void*>& outputs) {
  auto* const made = dynamic_cast<GraphImpl*>(this);
  if (made != nullptr) return made->Start(inputs, outputs);
  Fail(InvalidArgument("RunAsync() needs a graph of this library"));
  return RunEvent();
}

GraphProfile Graph::Profile(int runs) {
  auto* const made = dynamic_cast<GraphImpl*>(this);
  if (made != nullptr) return made->ProfileRuns(runs);
  Fail(InvalidArgument("Profile() needs a graph of this library"));
  return GraphProfile();
}

bool Graph::Dump(const std::string& directory, const std::string& names) {
  auto* const made = dynamic_cast<GraphImpl*>(this);
  if (made != nullptr) return made->DumpTo(directory, names);
  return Fail(InvalidArgument("Dump() needs a graph of this library"));
}

void Graph::AddOperation(const std::shared_ptr<Operation>& operation) {
  const std::shared_ptr<GraphCore> core = CoreOf(this);
  OpImpl& impl = *operation->impl();
  impl.Join(core);
  if (core != nullptr) {
    EndScope(impl);
    if (!core->scopes.empty()) impl.owner = core->scopes.back();
    if (core->replacements != nullptr) {
      core->replacements->push_back(operation);
      return;
    }
  }
  op_vector_.push_back(operation);
  // The constructor may have bound tensors already.
  for (const auto& tensor : impl.inputs) {
    UpdateTensorConsumersMap(tensor, operation.get());
  }
  for (const auto& tensor : impl.outputs) {
    UpdateTensorProducerMap(tensor, operation.get());
  }
}

void Graph::SetOverride(const char* operator_name, Replacement factory) {
  const std::shared_ptr<GraphCore> core = CoreOf(this);
  if (core == nullptr) return;
  const Status status = core->overrides.Set(operator_name, std::move(factory));
  if (!status.ok()) Fail(*core, status);
}

const std::vector<std::shared_ptr<Tensor>> Graph::GetConstantInputs() const {
  std::vector<std::shared_ptr<Tensor>> found;
  const Status status = CallUser([&] {
    for (const auto& operation : op_vector_) {
      if (operation == nullptr) continue;
      const auto inputs = operation->ConstantInputsTensor();
      found.insert(found.end(), inputs.begin(), inputs.end());
    }
  });
  if (!status.ok()) Fail(status);
  return found;
}

}  // namespace tim::vx
