#include "vx/transform/rebuilt_graph.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/op_schema.h"
#include "tim/vx/ops/reshape.h"
#include "tim/vx/ops/transpose.h"
#include "vx/core/failure.h"
#include "vx/operation/op_impl.h"
#include "vx/operation/operand_specs.h"
#include "vx/tensor/type_convert.h"

namespace tim::transform {
namespace {

using vx::LoweredGraph;
using vx::LoweredTensor;
using vx::Operation;
using vx::OpImpl;
using vx::Tensor;
using vx::TensorImpl;
using vx::TensorSpec;

using TensorPtr = std::shared_ptr<Tensor>;

// As it was made: the spec may hold a shape that Compile() inferred.
TensorSpec SpecAsMade(TensorImpl& tensor) {
  TensorSpec spec = tensor.GetSpec();
  const auto desc = tensor.DeclaredDesc();
  if (!desc.ok()) return spec;
  spec.datatype_ = vx::ToVx(desc->type);
  spec.shape_.assign(desc->shape.dims().begin(), desc->shape.dims().end());
  spec.attr_ = tensor.attribute();
  return spec;
}

TensorPtr CopyOf(TensorImpl& tensor, vx::GraphImpl& to) {
  const vx::HandleStorage& handle = *tensor.handle();
  const TensorSpec spec = SpecAsMade(tensor);
  const bool is_clients =
      handle.memory != nullptr && !tensor.core()->memory.Owns(handle.memory);
  const bool has_content =
      !spec.shape_.empty() &&
      (tensor.attribute() == vx::INPUT ||
       handle.content == vx::HandleStorage::Content::kGiven);
  const vx::DmaMapping* dma = tensor.mapping();
  TensorPtr copy =
      dma != nullptr ? to.CreateTensor(spec, vx::DmaBufferDesc{dma->fd()})
      : is_clients
          ? to.CreateIOTensor(spec, handle.memory)
          : to.CreateTensor(spec, has_content ? handle.memory : nullptr);
  copy->SetScalar(tensor.IsScalar());
  return copy;
}

class Rebuilder {
 public:
  Rebuilder(const LoweredGraph& lowered, std::shared_ptr<vx::GraphImpl> to,
            TensorMap* tensors)
      : lowered_(lowered),
        graph_(lowered.graph),
        impl_(std::move(to)),
        to_(impl_),
        tensors_(*tensors) {
    for (const LoweredTensor& entry : lowered.tensors) {
      sources_.emplace(entry.value, entry.tensor);
    }
    for (const auto& [state, value] : graph_.state_updates()) {
      sources_.emplace(value, sources_.at(state));
    }
  }

  Status Run() {
    TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                         graph_.TopologicalOrder());
    for (const ir::NodeId id : order) {
      const ir::Node& node = graph_.node(id);
      const Status status = AddOperation(node);
      if (!status.ok()) {
        return status.WithContext(StrCat("operation ", node.name));
      }
    }
    return OkStatus();
  }

 private:
  const Operation* SourceOf(const ir::Node& node) const {
    const auto id = static_cast<size_t>(node.id);
    return id < lowered_.operations.size() ? lowered_.operations[id] : nullptr;
  }

  Status AddOperation(const ir::Node& node) {
    const Operation* source = SourceOf(node);
    if (source == nullptr) return AddMove(node);
    TIM_ASSIGN_OR_RETURN(const auto clone, CloneOf(*source));
    TIM_RETURN_IF_ERROR(SetAttributes(*source, node, *clone));
    clone->SetInstanceName(source->InstanceName());
    const OpImpl& impl = *source->impl();
    TIM_RETURN_IF_ERROR(CheckOperands(*source, node));
    // Surplus inputs are gone.
    const size_t inputs = std::min(impl.inputs.size(), node.inputs.size());
    return Bind(node, inputs, impl.outputs.size(), *clone);
  }

  // Nodes of composed operations have more operands where their parts reach
  // out; those of custom operations the states that they keep.
  static Status CheckOperands(const Operation& source, const ir::Node& node) {
    const OpImpl& impl = *source.impl();
    if (impl.As<vx::Composition>() == nullptr ||
        (node.inputs.size() == impl.inputs.size() &&
         node.outputs.size() == impl.outputs.size())) {
      return OkStatus();
    }
    return Unimplemented(
        "it is overridden, and its parts use tensors that are not bound to it, "
        "which the replacement of its clone would not see");
  }

  // A node that only brings axes into another order, or shows extents of 1.
  Status AddMove(const ir::Node& node) {
    std::shared_ptr<Operation> made;
    if (node.schema->name == "Transpose") {
      const auto& perm = node.attributes.Ints("perm");
      made = impl_->CreateOperation<vx::ops::Transpose>(
          std::vector<uint32_t>(perm.begin(), perm.end()));
    } else if (node.schema->name == "Reshape") {
      const auto& shape = node.attributes.Ints("shape");
      made = impl_->CreateOperation<vx::ops::Reshape>(
          std::vector<uint32_t>(shape.begin(), shape.end()));
    } else {
      return TIM_INTERNAL("no operation stands for a node of ",
                          node.schema->Key());
    }
    return Bind(node, node.inputs.size(), node.outputs.size(), *made);
  }

  Result<std::shared_ptr<Operation>> CloneOf(const Operation& source) {
    std::shared_ptr<Operation> clone;
    TIM_RETURN_IF_ERROR(vx::CallUser([&] {
                          clone = source.Clone(to_);
                        }).WithContext("Clone()"));
    const auto& all = impl_->OpVector();
    if (clone == nullptr || clone.get() == &source ||
        std::find(all.begin(), all.end(), clone) == all.end()) {
      return InvalidArgument(
          "Clone() gave no operation of the graph that it was given; it must "
          "create one there");
    }
    if (!clone->impl()->inputs.empty() || !clone->impl()->outputs.empty()) {
      return InvalidArgument("Clone() gave an operation that is bound");
    }
    return clone;
  }

  // Those given to the source, and what is different in the node.
  static Status SetAttributes(const Operation& source, const ir::Node& node,
                              Operation& clone) {
    const ir::AttributeMap& given = source.impl()->attributes;
    ir::AttributeMap known = given;
    // The clone has the graphs inside by itself.
    for (const auto& [name, value] : node.attributes.entries()) {
      if (ir::TypeOf(value) == ir::AttributeType::kGraph)
        known.Set(name, value);
    }
    if (node.schema != nullptr) {
      TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*node.schema, &known));
    }
    ir::AttributeMap& attributes = clone.impl()->attributes;
    attributes = given;
    for (const auto& [name, value] : node.attributes.entries()) {
      const ir::Attribute* before = known.Find(name);
      if (before == nullptr || *before != value) attributes.Set(name, value);
    }
    return OkStatus();
  }

  Status Bind(const ir::Node& node, size_t inputs, size_t outputs,
              Operation& operation) {
    for (size_t i = 0; i < inputs; ++i) {
      TIM_ASSIGN_OR_RETURN(const TensorPtr tensor, TensorOf(node.inputs[i]));
      operation.BindInput(tensor);
    }
    for (size_t i = 0; i < outputs; ++i) {
      TIM_ASSIGN_OR_RETURN(const TensorPtr tensor, TensorOf(node.outputs[i]));
      operation.BindOutput(tensor);
    }
    return operation.impl()->problem;
  }

  Result<TensorPtr> TensorOf(ir::ValueId id) {
    if (id == ir::kNone) return impl_->CreateTensorPlaceHolder();
    const auto known = made_.find(id);
    if (known != made_.end()) return known->second;
    const auto source = sources_.find(id);
    TensorPtr tensor;
    if (source == sources_.end()) {
      tensor = MakeNew(graph_.value(id));
    } else {
      TIM_ASSIGN_OR_RETURN(tensor, MakeFor(source->second, graph_.value(id)));
    }
    if (tensor->GetId() == vx::kNoTensorId) {
      return TIM_INTERNAL("tensor ", graph_.value(id).name,
                          " cannot be made again");
    }
    made_.emplace(id, tensor);
    return tensor;
  }

  TensorPtr MakeNew(const ir::Value& value) {
    const auto& dims = value.desc.shape.dims();
    TensorSpec spec(vx::ToVx(value.desc.type), {}, vx::TRANSIENT,
                    vx::ToVx(value.desc.quantization));
    if (value.desc.shape.IsStatic()) {
      spec.shape_.assign(dims.begin(), dims.end());
    }
    if (value.role == ir::Role::kConstant) {
      spec.attr_ = vx::CONSTANT;
      return WithFlags(impl_->CreateConstant(spec, value.constant), value);
    }
    return WithFlags(impl_->CreateTensor(spec, nullptr), value);
  }

  static TensorPtr WithFlags(TensorPtr tensor, const ir::Value& value) {
    auto& made = static_cast<TensorImpl&>(*tensor);
    tensor->SetScalar(value.is_scalar);
    if (value.shape_declared && value.role == ir::Role::kTransient) {
      made.DeclareShape();
    }
    return tensor;
  }

  Result<TensorPtr> MakeFor(const std::shared_ptr<TensorImpl>& source,
                            const ir::Value& value) {
    const auto mapped = tensors_.find(source);
    if (mapped != tensors_.end()) return mapped->second;
    TensorPtr tensor;
    if (source->attribute() == vx::CONSTANT) {
      tensor = impl_->CreateConstant(SpecAsMade(*source), value.constant);
    } else if (source->attribute() == vx::VARIABLE) {
      TIM_ASSIGN_OR_RETURN(tensor, CopyOfState(*source));
      tensors_.emplace(source, tensor);
    } else {
      TensorSpec spec = vx::SpecOf(*source, value.desc);
      spec.name_ = source->GetSpec().name_;
      tensor = impl_->CreateTensor(spec, nullptr);
    }
    tensor->SetScalar(source->IsScalar());
    return tensor;
  }

  Result<TensorPtr> CopyOfState(TensorImpl& source) {
    TIM_ASSIGN_OR_RETURN(const ir::TensorDesc desc, source.DeclaredDesc());
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(desc));
    std::vector<std::byte> content(static_cast<size_t>(bytes));
    TIM_RETURN_IF_ERROR(source.state()->Read(content.data()));
    return impl_->CreateTensor(SpecAsMade(source), content.data());
  }

  const LoweredGraph& lowered_;
  const ir::Graph& graph_;
  const std::shared_ptr<vx::GraphImpl> impl_;
  std::shared_ptr<vx::Graph> to_;  ///< The same, for Clone().
  TensorMap& tensors_;
  std::map<ir::ValueId, std::shared_ptr<TensorImpl>> sources_;
  std::map<ir::ValueId, TensorPtr> made_;
};

}  // namespace

TensorMap CopyInputsAndOutputs(const vx::GraphImpl& source, vx::GraphImpl& to) {
  std::vector<TensorPtr> all = source.InputsTensor();
  const std::vector<TensorPtr> outputs = source.OutputsTensor();
  all.insert(all.end(), outputs.begin(), outputs.end());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a->GetId() < b->GetId();
  });
  TensorMap tensors;
  for (const TensorPtr& tensor : all) {
    tensors.emplace(tensor, CopyOf(static_cast<TensorImpl&>(*tensor), to));
  }
  return tensors;
}

Status Rebuild(const LoweredGraph& lowered,
               const std::shared_ptr<vx::GraphImpl>& to, TensorMap* tensors) {
  return Rebuilder(lowered, to, tensors).Run();
}

}  // namespace tim::transform
