#include "vx/lowering/lowering.h"

#include <map>

#include "base/log.h"
#include "tim/vx/ops/custom_base.h"
#include "vx/binary/nbg_lowering.h"
#include "vx/core/failure.h"
#include "vx/lowering/composition_tree.h"
#include "vx/lowering/copies.h"
#include "vx/operation/op_impl.h"

namespace tim::vx {
namespace {

using Operations = std::vector<std::shared_ptr<Operation>>;
using Tensors = std::vector<std::shared_ptr<Tensor>>;

// The values of a tensor in the graph or in a body.
struct TensorValues {
  ir::ValueId value = ir::kNone;    // that readers see
  ir::ValueId written = ir::kNone;  // that an operation writes
};

// A graph or a body under construction.
struct Scope {
  ir::Graph& graph;
  bool is_body = false;
  std::map<const Tensor*, TensorValues> values = {};
};

// A class of the user's may have copied an operation of another one.
bool IsKnown(const Operation& operation) {
  const OpImpl& impl = *operation.impl();
  if (impl.As<Builtin>() != nullptr) return impl.Schema() != nullptr;
  return impl.As<CustomMeans>() == nullptr ||
         dynamic_cast<const ops::CustomOpBase*>(&operation) != nullptr;
}

// Without operands.
ir::Node NodeOf(const OpImpl& operation) {
  ir::Node node;
  node.name = operation.InstanceName();
  node.attributes = operation.attributes;
  return node;
}

class Lowerer {
 public:
  Lowerer(const GraphCore& core, const Operations& operations)
      : core_(core),
        tree_(operations),
        operators_(core.context->Operators()),
        registry_(std::make_shared<ir::OpRegistry>(&operators_)) {
    lowered_.graph = ir::Graph(core.name);
  }

  Result<LoweredGraph> Lower(const Operations& operations, const Tensors& io);

 private:
  /// Whether it can become a node.
  Status Check(const Operation& operation) const;
  /// Fills binaries_, which makes the tensors of their states.
  Status ReadBinaries(const Operations& operations);
  /// Fills writers_; in single assignment form a tensor has one writer.
  Status FindWriters(const Operations& operations);
  Status AddParts(uint32_t owner, Scope& scope);
  /// Of a graph without operations.
  Status AddCopies(const Tensors& io, Scope& scope);
  /// The operation's node, with its operands: one function per kind.
  Result<ir::Node> MakeNode(Operation& operation, Scope& scope);
  Result<ir::Node> MakeNodeOf(const Builtin& kind, Operation& operation,
                              Scope& scope);
  Result<ir::Node> MakeNodeOf(const Composition& kind, Operation& operation,
                              Scope& scope);
  Result<ir::Node> MakeNodeOf(const CustomMeans& kind, Operation& operation,
                              Scope& scope);
  Result<ir::Node> MakeNodeOf(const NbgContent& kind, Operation& operation,
                              Scope& scope);
  Result<std::shared_ptr<const ir::Composite>> MakeComposite(
      const OpImpl& composed, const Boundary& boundary);
  Status AddBodyOperands(const Boundary& boundary, Scope& body);
  Status CheckOutputs(const OpImpl& composed, const Scope& body) const;
  /// The operands of `node`, for every tensor bound.
  Status Connect(const Tensors& inputs, const Tensors& outputs, Scope& scope,
                 ir::Node* node);
  /// Behind all inputs of a custom operation, absent ones too, the values
  /// before the run of the states that it writes.
  Status ConnectKept(const ops::CustomOpBase& custom, Scope& scope,
                     ir::Node* node);
  /// The tensor's values, made at its first use.
  Result<TensorValues> Find(const std::shared_ptr<Tensor>& tensor,
                            Scope& scope);
  Result<std::shared_ptr<TensorImpl>> Usable(
      const std::shared_ptr<Tensor>& tensor) const;
  Result<TensorValues> Declare(TensorImpl& tensor, Scope& scope) const;
  ir::ValueId AddConstant(const TensorImpl& tensor, const ir::TensorDesc& desc,
                          ir::Graph& graph) const;
  /// The node, on the device that the context wants for it.
  void Add(ir::Node node, Scope& scope) const;
  void AddInputsAndOutputs(const Tensors& io, const Scope& scope);
  std::string Describe(const OpImpl& operation) const {
    return StrCat("operation ", operation.InstanceName(), " of graph ",
                  core_.name);
  }

  const GraphCore& core_;
  const CompositionTree tree_;
  const ir::OpRegistry& operators_;
  std::shared_ptr<ir::OpRegistry> registry_;
  LoweredGraph lowered_;
  std::map<const Tensor*, const OpImpl*> writers_;
  std::map<const OpImpl*, ir::Node> binaries_;  // those of NBGs
};

Status Lowerer::Check(const Operation& operation) const {
  const OpImpl& impl = *operation.impl();
  if (impl.core.get() != &core_) {
    return InvalidArgument("the operation was made for another graph");
  }
  TIM_RETURN_IF_ERROR(impl.problem);
  if (IsKnown(operation)) return OkStatus();
  if (const auto number = impl.Number()) {
    return Unimplemented("unknown operator; this library has none of the kind ",
                         *number);
  }
  return Unimplemented("unknown operator; this library has none of the name '",
                       impl.name, "'");
}

Status Lowerer::ReadBinaries(const Operations& operations) {
  for (const auto& operation : operations) {
    OpImpl& impl = *operation->impl();
    auto* nbg = impl.As<NbgContent>();
    if (nbg == nullptr || !Check(*operation).ok()) continue;
    auto node = MakeNbgNode(impl, *nbg, operators_, registry_.get());
    if (!node.ok()) return node.status().WithContext(Describe(impl));
    binaries_.emplace(&impl, *std::move(node));
  }
  return OkStatus();
}

Status Lowerer::FindWriters(const Operations& operations) {
  for (const auto& operation : operations) {
    const OpImpl& impl = *operation->impl();
    const Status status = Check(*operation);
    if (!status.ok()) return status.WithContext(Describe(impl));
    if (impl.As<Composition>() != nullptr) continue;  // its parts write
    for (const auto& tensor : OutputsOf(impl)) {
      if (!IsBound(tensor)) continue;
      const auto [entry, added] = writers_.emplace(tensor.get(), &impl);
      if (added) continue;
      if (entry->second == &impl) {
        return InvalidArgument(
            "graph ", core_.name, ": OpVector() lists ", impl.InstanceName(),
            " twice, or it writes tensor ", NameOf(*tensor), " twice");
      }
      return InvalidArgument("graph ", core_.name, ": both ",
                             entry->second->InstanceName(), " and ",
                             impl.InstanceName(), " write tensor ",
                             NameOf(*tensor), "; one of them must be unbound");
    }
  }
  return OkStatus();
}

ir::ValueId Lowerer::AddConstant(const TensorImpl& tensor,
                                 const ir::TensorDesc& desc,
                                 ir::Graph& graph) const {
  if (tensor.needs_data()) {
    TIM_LOG(kWarning, "graph ", core_.name, ": constant ", tensor.Name(),
            " was never given data; it is 0");
  }
  return graph.AddConstant(desc, tensor.constant()->data, tensor.Name());
}

Result<std::shared_ptr<TensorImpl>> Lowerer::Usable(
    const std::shared_ptr<Tensor>& tensor) const {
  auto made = std::dynamic_pointer_cast<TensorImpl>(tensor);
  if (made == nullptr || made->core() != &core_) {
    return InvalidArgument("the tensor belongs to another graph");
  }
  TIM_RETURN_IF_ERROR(AsFinal(made->problem()));
  return made;
}

Result<TensorValues> Lowerer::Declare(TensorImpl& tensor, Scope& scope) const {
  TIM_ASSIGN_OR_RETURN(const ir::TensorDesc desc, tensor.DeclaredDesc());
  ir::Graph& graph = scope.graph;
  const bool written = writers_.count(&tensor) != 0;
  const TensorAttribute attribute = tensor.attribute();
  TensorValues made;
  if (attribute == CONSTANT) {
    if (written) return InvalidArgument("a CONSTANT tensor cannot be written");
    made.value = AddConstant(tensor, desc, graph);
  } else if (attribute == VARIABLE && !scope.is_body) {
    made.value = graph.AddValue(desc, ir::Role::kState, tensor.Name());
  } else {
    const bool input = attribute != TRANSIENT && !written && !scope.is_body;
    made.value = graph.AddValue(
        desc, input ? ir::Role::kInput : ir::Role::kTransient, tensor.Name());
  }
  made.written = made.value;
  if (attribute == VARIABLE && written && !scope.is_body) {
    made.written =
        graph.AddValue(desc, ir::Role::kTransient, tensor.Name() + ".next");
    graph.AddStateUpdate(made.value, made.written);
  }
  for (const ir::ValueId id : {made.value, made.written}) {
    graph.value(id).shape_declared = desc.shape.ranked();
    graph.value(id).preferred_shape = tensor.PreferredShape();
    graph.value(id).is_scalar = tensor.IsScalar();
  }
  return made;
}

Result<TensorValues> Lowerer::Find(const std::shared_ptr<Tensor>& tensor,
                                   Scope& scope) {
  const auto known = scope.values.find(tensor.get());
  if (known != scope.values.end()) return known->second;
  TIM_ASSIGN_OR_RETURN(auto usable, Usable(tensor));
  TIM_ASSIGN_OR_RETURN(const TensorValues made, Declare(*usable, scope));
  scope.values.emplace(tensor.get(), made);
  if (!scope.is_body) {
    if (scope.graph.value(made.value).role == ir::Role::kState) {
      lowered_.states.push_back(usable);
    }
    lowered_.tensors.push_back({std::move(usable), made.value});
  }
  return made;
}

Status Lowerer::Connect(const Tensors& inputs, const Tensors& outputs,
                        Scope& scope, ir::Node* node) {
  const auto add = [&](const char* what, const Tensors& tensors,
                       ir::ValueId TensorValues::*value,
                       std::vector<ir::ValueId>* operands) -> Status {
    for (const auto& tensor : tensors) {
      operands->push_back(ir::kNone);
      if (!IsBound(tensor)) continue;
      const Result<TensorValues> found = Find(tensor, scope);
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

Status Lowerer::ConnectKept(const ops::CustomOpBase& custom, Scope& scope,
                            ir::Node* node) {
  if (HasAllInputs(custom)) node->inputs.resize(custom.input_num_, ir::kNone);
  for (const int output : KeptOutputs(custom)) {
    const auto& tensor = custom.impl()->outputs[output];
    TIM_ASSIGN_OR_RETURN(const TensorValues values, Find(tensor, scope));
    node->inputs.push_back(values.value);
  }
  return OkStatus();
}

// The operands are values of the body by position; a tensor that is both an
// input and an output (a VARIABLE) has one for each.
Status Lowerer::AddBodyOperands(const Boundary& boundary, Scope& body) {
  ir::Graph& graph = body.graph;
  const auto add = [&](const std::shared_ptr<Tensor>& tensor,
                       ir::Role role) -> Result<ir::ValueId> {
    TIM_ASSIGN_OR_RETURN(const auto usable, Usable(tensor));
    TIM_ASSIGN_OR_RETURN(const ir::TensorDesc desc, usable->DeclaredDesc());
    const ir::ValueId id = graph.AddValue(desc, role, usable->Name());
    graph.value(id).shape_declared = desc.shape.ranked();
    graph.value(id).is_scalar = usable->IsScalar();
    return id;
  };
  for (const auto& tensor : boundary.inputs) {
    if (tensor->IsPlaceHolder()) {
      graph.AddInput(ir::kNone);
      continue;
    }
    TIM_ASSIGN_OR_RETURN(const ir::ValueId id, add(tensor, ir::Role::kInput));
    graph.AddInput(id);
    body.values.emplace(tensor.get(), TensorValues{id, id});
  }
  for (const auto& tensor : boundary.outputs) {
    if (tensor->IsPlaceHolder()) {
      graph.AddOutput(ir::kNone);
      continue;
    }
    TIM_ASSIGN_OR_RETURN(const ir::ValueId id,
                         add(tensor, ir::Role::kTransient));
    graph.AddOutput(id);
    const auto [entry, added] =
        body.values.emplace(tensor.get(), TensorValues{id, id});
    if (!added) entry->second.written = id;
  }
  return OkStatus();
}

Status Lowerer::CheckOutputs(const OpImpl& composed, const Scope& body) const {
  for (size_t i = 0; i < composed.outputs.size(); ++i) {
    const ir::ValueId id = body.graph.outputs()[i];
    if (id == ir::kNone || body.graph.value(id).producer != ir::kNone) continue;
    return InvalidArgument("Wire() binds no operation that writes output ", i);
  }
  return OkStatus();
}

Result<std::shared_ptr<const ir::Composite>> Lowerer::MakeComposite(
    const OpImpl& composed, const Boundary& boundary) {
  auto composite = std::make_shared<ir::Composite>();
  const ir::OpSchema* schema = composed.Schema();
  composite->name = schema != nullptr
                        ? StrCat(schema->domain, ".", schema->name)
                        : composed.name;
  composite->body = ir::Graph(composed.InstanceName());
  Scope body{.graph = composite->body, .is_body = true};
  TIM_RETURN_IF_ERROR(AddBodyOperands(boundary, body));
  TIM_RETURN_IF_ERROR(AddParts(composed.uid, body));
  TIM_RETURN_IF_ERROR(CheckOutputs(composed, body));
  return composite;
}

Result<ir::Node> Lowerer::MakeNodeOf(const Builtin&, Operation& operation,
                                     Scope& scope) {
  const OpImpl& impl = *operation.impl();
  ir::Node node = NodeOf(impl);
  node.schema = impl.Schema();
  TIM_RETURN_IF_ERROR(Connect(impl.inputs, impl.outputs, scope, &node));
  return node;
}

Result<ir::Node> Lowerer::MakeNodeOf(const Composition&, Operation& operation,
                                     Scope& scope) {
  const OpImpl& impl = *operation.impl();
  const Boundary boundary = tree_.BoundaryOf(impl);
  ir::Node node = NodeOf(impl);
  node.schema = impl.Schema();
  TIM_ASSIGN_OR_RETURN(node.composite, MakeComposite(impl, boundary));
  TIM_RETURN_IF_ERROR(Connect(boundary.inputs, boundary.outputs, scope, &node));
  return node;
}

Result<ir::Node> Lowerer::MakeNodeOf(const CustomMeans&, Operation& operation,
                                     Scope& scope) {
  const OpImpl& impl = *operation.impl();
  auto& custom = static_cast<ops::CustomOpBase&>(operation);
  ir::Node node = NodeOf(impl);
  TIM_RETURN_IF_ERROR(Connect(impl.inputs, impl.outputs, scope, &node));
  TIM_RETURN_IF_ERROR(ConnectKept(custom, scope, &node));
  auto instance = std::make_shared<CustomOperator>(custom, node.name);
  node.schema = CustomOperator::Register(instance, registry_.get());
  lowered_.custom_operators.push_back(std::move(instance));
  return node;
}

Result<ir::Node> Lowerer::MakeNodeOf(const NbgContent& content,
                                     Operation& operation, Scope& scope) {
  const OpImpl& impl = *operation.impl();
  ir::Node node = binaries_.at(&impl);
  TIM_RETURN_IF_ERROR(Connect(content.Inputs(impl.inputs),
                              content.Outputs(impl.outputs), scope, &node));
  return node;
}

Result<ir::Node> Lowerer::MakeNode(Operation& operation, Scope& scope) {
  return std::visit(
      [&](const auto& kind) { return MakeNodeOf(kind, operation, scope); },
      operation.impl()->kind);
}

Status Lowerer::AddParts(uint32_t owner, Scope& scope) {
  for (Operation* operation : tree_.Parts(owner)) {
    Result<ir::Node> node = MakeNode(*operation, scope);
    if (!node.ok()) {
      return node.status().WithContext(Describe(*operation->impl()));
    }
    Add(*std::move(node), scope);
    if (!scope.is_body) lowered_.operations.push_back(operation);
  }
  return OkStatus();
}

Status Lowerer::AddCopies(const Tensors& io, Scope& scope) {
  TIM_ASSIGN_OR_RETURN(const std::vector<TensorCopy> copies, CopiesOf(io));
  if (copies.empty()) return OkStatus();
  const ir::OpSchema* reshape = operators_.Find("tim.Reshape");
  if (reshape == nullptr) return TIM_INTERNAL("tim.Reshape is not registered");
  for (const TensorCopy& copy : copies) {
    writers_.emplace(copy.to.get(), nullptr);
    ir::Node node;
    node.name = StrCat("copy of ", copy.from->Name());
    node.schema = reshape;
    TIM_RETURN_IF_ERROR(Connect({copy.from}, {copy.to}, scope, &node));
    node.attributes.Set("shape",
                        scope.graph.value(node.inputs[0]).desc.shape.dims());
    TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*reshape, &node.attributes));
    Add(std::move(node), scope);
  }
  return OkStatus();
}

void Lowerer::Add(ir::Node node, Scope& scope) const {
  const auto& placement = core_.context->options.placement;
  if (placement != nullptr) node.device = placement(node);
  scope.graph.AddNode(std::move(node));
}

void Lowerer::AddInputsAndOutputs(const Tensors& io, const Scope& scope) {
  for (const auto& tensor : io) {
    const auto known = scope.values.find(tensor.get());
    if (known == scope.values.end()) continue;  // not bound
    auto made = std::static_pointer_cast<TensorImpl>(tensor);
    if (writers_.count(tensor.get()) != 0) {
      lowered_.graph.AddOutput(known->second.written);
      lowered_.outputs.push_back(std::move(made));
    } else {
      lowered_.graph.AddInput(known->second.value);
      lowered_.inputs.push_back(std::move(made));
    }
  }
}

Result<LoweredGraph> Lowerer::Lower(const Operations& operations,
                                    const Tensors& io) {
  TIM_RETURN_IF_ERROR(ReadBinaries(operations));
  TIM_RETURN_IF_ERROR(FindWriters(operations));
  Scope scope{.graph = lowered_.graph};
  if (operations.empty()) {
    const Status status = AddCopies(io, scope);
    if (!status.ok()) return status.WithContext(StrCat("graph ", core_.name));
  } else {
    TIM_RETURN_IF_ERROR(AddParts(0, scope));
  }
  AddInputsAndOutputs(io, scope);
  lowered_.registry = std::move(registry_);
  return std::move(lowered_);
}

}  // namespace

Result<LoweredGraph> Lower(const GraphCore& core, const Operations& operations,
                           const Tensors& io) {
  return Lowerer(core, operations).Lower(operations, io);
}

}  // namespace tim::vx
