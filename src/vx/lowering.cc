#include "vx/lowering.h"

#include <map>

#include "base/log.h"
#include "vx/op_impl.h"

namespace tim::vx {
namespace {

using Operations = std::vector<std::shared_ptr<Operation>>;
using Tensors = std::vector<std::shared_ptr<Tensor>>;

class Lowerer {
 public:
  explicit Lowerer(const GraphCore& core) : core_(core) {
    lowered_.graph = ir::Graph(core.name);
  }

  Result<LoweredGraph> Lower(const Operations& operations, const Tensors& io);

 private:
  Status CheckOperation(const OpImpl& operation) const;
  /// Fills writers_; in single assignment form a tensor has one writer.
  Status FindWriters(const Operations& operations);
  Status AddOperation(const OpImpl& operation);
  /// The tensor with its values, made at its first use.
  Result<const LoweredTensor*> Find(const std::shared_ptr<Tensor>& tensor);
  Result<LoweredTensor> Declare(std::shared_ptr<TensorImpl> tensor);
  ir::ValueId AddConstant(const TensorImpl& tensor, const ir::TensorDesc& desc);
  void AddInputsAndOutputs(const Tensors& io);

  const GraphCore& core_;
  LoweredGraph lowered_;
  std::map<const Tensor*, size_t> index_;  // in lowered_.tensors
  std::map<const Tensor*, std::string> writers_;
};

Status Lowerer::CheckOperation(const OpImpl& operation) const {
  if (operation.core.get() != &core_) {
    return InvalidArgument("the operation was made for another graph");
  }
  if (!operation.problem.ok()) return operation.problem;
  if (operation.Schema() != nullptr) return OkStatus();
  if (operation.kind) {
    return Unimplemented("unknown operator; this library has none of the kind ",
                         *operation.kind);
  }
  return Unimplemented("unknown operator; this library has none of the name '",
                       operation.name, "'");
}

Status Lowerer::FindWriters(const Operations& operations) {
  for (const auto& operation : operations) {
    if (operation == nullptr) {
      return InvalidArgument("OpVector() of graph ", core_.name,
                             " holds a null pointer");
    }
    const std::string name = operation->impl()->InstanceName();
    const Status status = CheckOperation(*operation->impl());
    if (!status.ok()) {
      return status.WithContext(
          StrCat("operation ", name, " of graph ", core_.name));
    }
    for (const auto& tensor : operation->impl()->outputs) {
      if (tensor->IsPlaceHolder()) continue;
      const auto [entry, added] = writers_.emplace(tensor.get(), name);
      if (added) continue;
      if (entry->second == name) {
        return InvalidArgument("graph ", core_.name, ": OpVector() lists ",
                               name, " twice, or it writes tensor t",
                               tensor->GetId(), " twice");
      }
      return InvalidArgument("graph ", core_.name, ": both ", entry->second,
                             " and ", name, " write tensor t", tensor->GetId(),
                             "; one of them must be unbound");
    }
  }
  return OkStatus();
}

ir::ValueId Lowerer::AddConstant(const TensorImpl& tensor,
                                 const ir::TensorDesc& desc) {
  if (tensor.needs_data()) {
    TIM_LOG(kWarning, "graph ", core_.name, ": constant ", tensor.Name(),
            " was never given data; it is 0");
  }
  return lowered_.graph.AddConstant(desc, tensor.constant()->data,
                                    tensor.Name());
}

Result<LoweredTensor> Lowerer::Declare(std::shared_ptr<TensorImpl> tensor) {
  if (tensor == nullptr || tensor->core() != &core_) {
    return InvalidArgument("the tensor belongs to another graph");
  }
  TIM_RETURN_IF_ERROR(tensor->problem());
  TIM_ASSIGN_OR_RETURN(const ir::TensorDesc desc, tensor->DeclaredDesc());
  ir::Graph& graph = lowered_.graph;
  const bool written = writers_.count(tensor.get()) != 0;
  const TensorAttribute attribute = tensor->attribute();
  LoweredTensor lowered{.tensor = tensor};
  if (attribute == CONSTANT) {
    if (written) return InvalidArgument("a CONSTANT tensor cannot be written");
    lowered.value = AddConstant(*tensor, desc);
  } else if (attribute == VARIABLE) {
    lowered.value = graph.AddValue(desc, ir::Role::kState, tensor->Name());
  } else {
    const bool input = attribute != TRANSIENT && !written;
    lowered.value = graph.AddValue(
        desc, input ? ir::Role::kInput : ir::Role::kTransient, tensor->Name());
  }
  lowered.written = lowered.value;
  if (attribute == VARIABLE && written) {
    lowered.written =
        graph.AddValue(desc, ir::Role::kTransient, tensor->Name() + ".next");
    graph.AddStateUpdate(lowered.value, lowered.written);
  }
  for (const ir::ValueId id : {lowered.value, lowered.written}) {
    graph.value(id).shape_declared = desc.shape.ranked();
    graph.value(id).is_scalar = tensor->IsScalar();
  }
  return lowered;
}

Result<const LoweredTensor*> Lowerer::Find(
    const std::shared_ptr<Tensor>& tensor) {
  const auto known = index_.find(tensor.get());
  if (known != index_.end()) return &lowered_.tensors[known->second];
  TIM_ASSIGN_OR_RETURN(LoweredTensor made,
                       Declare(std::dynamic_pointer_cast<TensorImpl>(tensor)));
  index_.emplace(tensor.get(), lowered_.tensors.size());
  lowered_.tensors.push_back(std::move(made));
  return &lowered_.tensors.back();
}

Status Lowerer::AddOperation(const OpImpl& operation) {
  ir::Node node;
  node.name = operation.InstanceName();
  node.schema = operation.Schema();
  node.attributes = operation.attributes;
  const auto add = [this](const std::shared_ptr<Tensor>& tensor,
                          ir::ValueId LoweredTensor::*value,
                          std::vector<ir::ValueId>* operands) -> Status {
    operands->push_back(ir::kNone);
    if (tensor->IsPlaceHolder()) return OkStatus();
    TIM_ASSIGN_OR_RETURN(const LoweredTensor* found, Find(tensor));
    operands->back() = found->*value;
    return OkStatus();
  };
  const auto fail = [&](const char* what, size_t index, const Status& status) {
    return status.WithContext(StrCat("operation ", node.name, " of graph ",
                                     core_.name, ": ", what, " ", index - 1));
  };
  for (const auto& tensor : operation.inputs) {
    const Status status = add(tensor, &LoweredTensor::value, &node.inputs);
    if (!status.ok()) return fail("input", node.inputs.size(), status);
  }
  for (const auto& tensor : operation.outputs) {
    const Status status = add(tensor, &LoweredTensor::written, &node.outputs);
    if (!status.ok()) return fail("output", node.outputs.size(), status);
  }
  lowered_.graph.AddNode(std::move(node));
  return OkStatus();
}

void Lowerer::AddInputsAndOutputs(const Tensors& io) {
  for (const auto& tensor : io) {
    const auto known = index_.find(tensor.get());
    if (known == index_.end()) continue;  // not bound
    const LoweredTensor& lowered = lowered_.tensors[known->second];
    if (writers_.count(tensor.get()) != 0) {
      lowered_.graph.AddOutput(lowered.written);
    } else {
      lowered_.graph.AddInput(lowered.value);
    }
  }
}

Result<LoweredGraph> Lowerer::Lower(const Operations& operations,
                                    const Tensors& io) {
  TIM_RETURN_IF_ERROR(FindWriters(operations));
  for (const auto& operation : operations) {
    TIM_RETURN_IF_ERROR(AddOperation(*operation->impl()));
  }
  AddInputsAndOutputs(io);
  return std::move(lowered_);
}

}  // namespace

Result<LoweredGraph> Lower(const GraphCore& core, const Operations& operations,
                           const Tensors& io) {
  return Lowerer(core).Lower(operations, io);
}

}  // namespace tim::vx
