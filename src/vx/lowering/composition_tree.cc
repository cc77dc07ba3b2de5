#include "vx/lowering/composition_tree.h"

#include <algorithm>
#include <set>

#include "vx/user/custom_operator.h"

namespace tim::vx {
namespace {

using Tensors = std::vector<std::shared_ptr<Tensor>>;

void AddUnique(const std::shared_ptr<Tensor>& tensor,
               std::set<const Tensor*>* seen, Tensors* tensors) {
  if (seen->insert(tensor.get()).second) tensors->push_back(tensor);
}

std::set<const Tensor*> SetOf(const Tensors& tensors) {
  std::set<const Tensor*> set;
  for (const auto& tensor : tensors) set.insert(tensor.get());
  return set;
}

}  // namespace

std::vector<std::shared_ptr<Tensor>> InputsOf(const OpImpl& operation) {
  const auto* nbg = operation.As<NbgContent>();
  return nbg != nullptr ? nbg->Inputs(operation.inputs) : operation.inputs;
}

std::vector<std::shared_ptr<Tensor>> OutputsOf(const OpImpl& operation) {
  const auto* nbg = operation.As<NbgContent>();
  return nbg != nullptr ? nbg->Outputs(operation.outputs) : operation.outputs;
}

CompositionTree::CompositionTree(
    const std::vector<std::shared_ptr<Operation>>& operations) {
  for (const auto& operation : operations) {
    const OpImpl& impl = *operation->impl();
    if (impl.As<Composition>() != nullptr) composed_[impl.uid] = &impl;
  }
  for (const auto& operation : operations) {
    const OpImpl& impl = *operation->impl();
    parts_[OwnerOf(impl)].push_back(operation.get());
    if (composed_.empty()) continue;
    for (const auto& tensor : impl.inputs) {
      readers_[tensor.get()].push_back(&impl);
    }
  }
}

// 0 where the owner has been taken out of the list.
uint32_t CompositionTree::OwnerOf(const OpImpl& operation) const {
  return composed_.count(operation.owner) != 0 ? operation.owner : 0;
}

const std::vector<Operation*>& CompositionTree::Parts(uint32_t owner) const {
  const auto found = parts_.find(owner);
  return found != parts_.end() ? found->second : no_parts_;
}

const std::string& CompositionTree::AffinityOf(const OpImpl& operation) const {
  const OpImpl* at = &operation;
  while (at->affinity.empty()) {
    const auto outer = composed_.find(at->owner);
    if (outer == composed_.end()) break;
    at = outer->second;
  }
  return at->affinity;
}

bool CompositionTree::IsInside(const OpImpl& operation, uint32_t owner) const {
  for (const OpImpl* at = &operation;;) {
    if (at->uid == owner) return true;
    const auto outer = composed_.find(at->owner);
    if (outer == composed_.end()) return false;
    at = outer->second;
  }
}

void CompositionTree::Collect(uint32_t owner, Traffic* traffic) const {
  for (const Operation* part : Parts(owner)) {
    const OpImpl& impl = *part->impl();
    if (impl.As<Composition>() != nullptr) {
      Collect(impl.uid, traffic);
      continue;
    }
    const auto add = [](const Tensors& from, Tensors* to) {
      for (const auto& tensor : from) {
        if (IsBound(tensor)) to->push_back(tensor);
      }
    };
    add(InputsOf(impl), &traffic->read);
    add(OutputsOf(impl), &traffic->written);
    const auto* custom = dynamic_cast<const ops::CustomOpBase*>(part);
    if (custom == nullptr) continue;
    for (const int output : KeptOutputs(*custom)) {
      traffic->read.push_back(impl.outputs[output]);
    }
  }
}

// What a part writes is also needed outside.
bool CompositionTree::IsWanted(Tensor& tensor, const OpImpl& composed) const {
  if (tensor.GetSpec().attr_ != TRANSIENT) return true;
  const auto readers = readers_.find(&tensor);
  return readers != readers_.end() &&
         std::any_of(readers->second.begin(), readers->second.end(),
                     [&](const OpImpl* reader) {
                       return !IsInside(*reader, composed.uid);
                     });
}

Boundary CompositionTree::BoundaryOf(const OpImpl& composed) const {
  Traffic traffic;
  Collect(composed.uid, &traffic);
  const std::set<const Tensor*> written = SetOf(traffic.written);
  Boundary boundary{composed.inputs, composed.outputs};
  std::set<const Tensor*> inputs = SetOf(boundary.inputs);
  for (const auto& tensor : traffic.read) {
    const TensorAttribute attribute = tensor->GetSpec().attr_;
    if (attribute == CONSTANT) continue;
    if (attribute != VARIABLE && written.count(tensor.get()) != 0) continue;
    AddUnique(tensor, &inputs, &boundary.inputs);
  }
  std::set<const Tensor*> outputs = SetOf(boundary.outputs);
  for (const auto& tensor : traffic.written) {
    if (IsWanted(*tensor, composed)) {
      AddUnique(tensor, &outputs, &boundary.outputs);
    }
  }
  return boundary;
}

}  // namespace tim::vx
