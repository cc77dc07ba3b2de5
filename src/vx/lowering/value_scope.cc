// Tensors as values, by what they are and by who writes them.
#include "vx/lowering/value_scope.h"

#include <utility>

#include "base/log.h"
#include "vx/core/failure.h"

namespace tim::vx {

const TensorValues* ValueScope::Known(const Tensor* tensor) const {
  const auto known = values_.find(tensor);
  return known != values_.end() ? &known->second : nullptr;
}

Result<ir::ValueId> ValueScope::AddConstant(const TensorImpl& tensor,
                                            const ir::TensorDesc& desc) {
  if (tensor.needs_data()) {
    TIM_LOG(kWarning, "graph ", core_.name, ": constant ", tensor.Name(),
            " was never given data; it is 0");
  }
  TIM_ASSIGN_OR_RETURN(auto data, tensor.constant()->Data());
  return graph_.AddConstant(desc, std::move(data), tensor.Name());
}

Result<std::shared_ptr<TensorImpl>> ValueScope::Usable(
    const std::shared_ptr<Tensor>& tensor) const {
  auto made = std::dynamic_pointer_cast<TensorImpl>(tensor);
  if (made == nullptr || made->core() != &core_) {
    return InvalidArgument("the tensor belongs to another graph");
  }
  TIM_RETURN_IF_ERROR(AsFinal(made->problem()));
  return made;
}

Result<TensorValues> ValueScope::Declare(TensorImpl& tensor) {
  TIM_ASSIGN_OR_RETURN(const ir::TensorDesc desc, tensor.DeclaredDesc());
  const bool written = writers_.count(&tensor) != 0;
  const TensorAttribute attribute = tensor.attribute();
  TensorValues made;
  if (attribute == CONSTANT) {
    if (written) return InvalidArgument("a CONSTANT tensor cannot be written");
    TIM_ASSIGN_OR_RETURN(made.value, AddConstant(tensor, desc));
  } else if (attribute == VARIABLE && !is_body()) {
    made.value = graph_.AddValue(desc, ir::Role::kState, tensor.Name());
  } else {
    const bool input = attribute != TRANSIENT && !written && !is_body();
    made.value = graph_.AddValue(
        desc, input ? ir::Role::kInput : ir::Role::kTransient, tensor.Name());
  }
  made.written = made.value;
  if (attribute == VARIABLE && written && !is_body()) {
    made.written =
        graph_.AddValue(desc, ir::Role::kTransient, tensor.Name() + ".next");
    graph_.AddStateUpdate(made.value, made.written);
  }
  for (const ir::ValueId id : {made.value, made.written}) {
    graph_.value(id).shape_declared = desc.shape.ranked();
    graph_.value(id).preferred_shape = tensor.PreferredShape();
    graph_.value(id).is_scalar = tensor.IsScalar();
  }
  return made;
}

Result<TensorValues> ValueScope::Find(const std::shared_ptr<Tensor>& tensor) {
  if (const TensorValues* known = Known(tensor.get())) return *known;
  TIM_ASSIGN_OR_RETURN(auto usable, Usable(tensor));
  TIM_ASSIGN_OR_RETURN(const TensorValues made, Declare(*usable));
  values_.emplace(tensor.get(), made);
  if (!is_body()) {
    if (graph_.value(made.value).role == ir::Role::kState) {
      lowered_->states.push_back(usable);
    }
    lowered_->tensors.push_back({std::move(usable), made.value});
  }
  return made;
}

Status ValueScope::Connect(const Tensors& inputs, const Tensors& outputs,
                           ir::Node* node) {
  const auto add = [&](const char* what, const Tensors& tensors,
                       ir::ValueId TensorValues::*value,
                       std::vector<ir::ValueId>* operands) -> Status {
    for (const auto& tensor : tensors) {
      operands->push_back(ir::kNone);
      if (!IsBound(tensor)) continue;
      const Result<TensorValues> found = Find(tensor);
      if (!found.ok()) {
        return found.status().WithContext(
            StrCat(what, " ", operands->size() - 1));
      }
      operands->back() = (*found).*value;
    }
    return OkStatus();
  };
  TIM_RETURN_IF_ERROR(
      add("input", inputs, &TensorValues::value, &node->inputs));
  return add("output", outputs, &TensorValues::written, &node->outputs);
}

Status ValueScope::AddOperands(const Boundary& boundary) {
  const auto add = [&](const std::shared_ptr<Tensor>& tensor,
                       ir::Role role) -> Result<ir::ValueId> {
    TIM_ASSIGN_OR_RETURN(const auto usable, Usable(tensor));
    TIM_ASSIGN_OR_RETURN(const ir::TensorDesc desc, usable->DeclaredDesc());
    const ir::ValueId id = graph_.AddValue(desc, role, usable->Name());
    graph_.value(id).shape_declared = desc.shape.ranked();
    graph_.value(id).is_scalar = usable->IsScalar();
    return id;
  };
  for (const auto& tensor : boundary.inputs) {
    if (tensor->IsPlaceHolder()) {
      graph_.AddInput(ir::kNone);
      continue;
    }
    TIM_ASSIGN_OR_RETURN(const ir::ValueId id, add(tensor, ir::Role::kInput));
    graph_.AddInput(id);
    values_.emplace(tensor.get(), TensorValues{id, id});
  }
  for (const auto& tensor : boundary.outputs) {
    if (tensor->IsPlaceHolder()) {
      graph_.AddOutput(ir::kNone);
      continue;
    }
    TIM_ASSIGN_OR_RETURN(const ir::ValueId id,
                         add(tensor, ir::Role::kTransient));
    graph_.AddOutput(id);
    const auto [entry, added] =
        values_.emplace(tensor.get(), TensorValues{id, id});
    if (!added) entry->second.written = id;
  }
  return OkStatus();
}

}  // namespace tim::vx
