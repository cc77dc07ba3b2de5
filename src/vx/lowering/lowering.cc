// Operations as nodes: parts in bodies, a function per kind.
#include "vx/lowering/lowering.h"

#include <map>

#include "tim/vx/graph.h"
#include "tim/vx/ops/custom_base.h"
#include "vx/binary/nbg_lowering.h"
#include "vx/core/failure.h"
#include "vx/core/known_operators.h"
#include "vx/lowering/composition_tree.h"
#include "vx/lowering/copies.h"
#include "vx/lowering/value_scope.h"
#include "vx/operation/op_impl.h"

namespace tim::vx {
namespace {

using Operations = std::vector<std::shared_ptr<Operation>>;
using Tensors = std::vector<std::shared_ptr<Tensor>>;

// As binary graphs have it.
constexpr int kMaxGraphDepth = 32;

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

Status CheckOutputs(const OpImpl& composed, const ir::Graph& body) {
  for (size_t i = 0; i < composed.outputs.size(); ++i) {
    const ir::ValueId id = body.outputs()[i];
    if (id == ir::kNone || body.value(id).producer != ir::kNone) continue;
    return InvalidArgument("Wire() binds no operation that writes output ", i);
  }
  return OkStatus();
}

class Lowerer {
 public:
  Lowerer(const GraphCore& core, const Operations& operations)
      : Lowerer(
            core, operations,
            std::make_shared<ir::OpRegistry>(&KnownOperators(*core.context)),
            0) {}

  Result<LoweredGraph> Lower(const Operations& operations, const Tensors& io);

 private:
  /// \param registry gets custom operators.  \param depth operations with
  /// graphs that this one is in.
  Lowerer(const GraphCore& core, const Operations& operations,
          std::shared_ptr<ir::OpRegistry> registry, int depth)
      : core_(core),
        tree_(operations),
        operators_(KnownOperators(*core.context)),
        registry_(std::move(registry)),
        depth_(depth) {
    lowered_.graph = ir::Graph(core.name);
  }

  /// A graph inside of an operation.
  Result<std::shared_ptr<const ir::Graph>> LowerInner(Graph* graph);
  /// Whether it can become a node.
  Status Check(const Operation& operation) const;
  /// Fills binaries_, which makes the tensors of their states.
  Status ReadBinaries(const Operations& operations);
  /// Fills writers_; in single assignment form a tensor has one writer.
  Status FindWriters(const Operations& operations);
  Status AddParts(uint32_t owner, ValueScope& scope);
  Status Place(const OpImpl& operation, ir::Node* node) const;
  /// Of a graph without operations.
  Status AddCopies(const Tensors& io, ValueScope& scope);
  /// The operation's node, with its operands: one function per kind.
  Result<ir::Node> MakeNode(Operation& operation, ValueScope& scope);
  Result<ir::Node> MakeNodeOf(const Builtin& kind, Operation& operation,
                              ValueScope& scope);
  Result<ir::Node> MakeNodeOf(const Composition& kind, Operation& operation,
                              ValueScope& scope);
  Result<ir::Node> MakeNodeOf(const CustomMeans& kind, Operation& operation,
                              ValueScope& scope);
  Result<ir::Node> MakeNodeOf(const NbgContent& kind, Operation& operation,
                              ValueScope& scope);
  Result<std::shared_ptr<const ir::Composite>> MakeComposite(
      const OpImpl& composed, const Boundary& boundary);
  /// Behind all inputs of a custom operation, absent ones too, the values
  /// before the run of the states that it writes.
  Status ConnectKept(const ops::CustomOpBase& custom, ValueScope& scope,
                     ir::Node* node);
  /// The node, on the device that the context wants for it.
  void Add(ir::Node node, ValueScope& scope) const;
  void AddInputsAndOutputs(const Tensors& io, const ValueScope& scope);
  std::string Describe(const OpImpl& operation) const {
    return StrCat("operation ", operation.InstanceName(), " of graph ",
                  core_.name);
  }

  const GraphCore& core_;
  const CompositionTree tree_;
  const ir::OpRegistry& operators_;
  std::shared_ptr<ir::OpRegistry> registry_;
  const int depth_;
  LoweredGraph lowered_;
  Writers writers_;
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

Status Lowerer::ConnectKept(const ops::CustomOpBase& custom, ValueScope& scope,
                            ir::Node* node) {
  if (HasAllInputs(custom)) node->inputs.resize(custom.input_num_, ir::kNone);
  for (const int output : KeptOutputs(custom)) {
    const auto& tensor = custom.impl()->outputs[output];
    TIM_ASSIGN_OR_RETURN(const TensorValues values, scope.Find(tensor));
    node->inputs.push_back(values.value);
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
  ValueScope body(core_, writers_, &composite->body);
  TIM_RETURN_IF_ERROR(body.AddOperands(boundary));
  TIM_RETURN_IF_ERROR(AddParts(composed.uid, body));
  TIM_RETURN_IF_ERROR(CheckOutputs(composed, composite->body));
  return composite;
}

Result<ir::Node> Lowerer::MakeNodeOf(const Builtin&, Operation& operation,
                                     ValueScope& scope) {
  const OpImpl& impl = *operation.impl();
  ir::Node node = NodeOf(impl);
  node.schema = impl.Schema();
  for (const auto& [name, graph] : impl.graphs) {
    auto inner = LowerInner(graph.get());
    if (!inner.ok()) {
      return inner.status().WithContext(StrCat("graph '", name, "'"));
    }
    node.attributes.Set(name, *std::move(inner));
  }
  TIM_RETURN_IF_ERROR(scope.Connect(impl.inputs, impl.outputs, &node));
  return node;
}

Result<ir::Node> Lowerer::MakeNodeOf(const Composition&, Operation& operation,
                                     ValueScope& scope) {
  const OpImpl& impl = *operation.impl();
  const Boundary boundary = tree_.BoundaryOf(impl);
  ir::Node node = NodeOf(impl);
  node.schema = impl.Schema();
  TIM_ASSIGN_OR_RETURN(node.composite, MakeComposite(impl, boundary));
  TIM_RETURN_IF_ERROR(scope.Connect(boundary.inputs, boundary.outputs, &node));
  return node;
}

Result<ir::Node> Lowerer::MakeNodeOf(const CustomMeans&, Operation& operation,
                                     ValueScope& scope) {
  const OpImpl& impl = *operation.impl();
  auto& custom = static_cast<ops::CustomOpBase&>(operation);
  ir::Node node = NodeOf(impl);
  // Graphs count their operations from 1 each.
  if (depth_ > 0) node.name += StrCat("@", core_.name);
  TIM_RETURN_IF_ERROR(scope.Connect(impl.inputs, impl.outputs, &node));
  TIM_RETURN_IF_ERROR(ConnectKept(custom, scope, &node));
  auto instance = std::make_shared<CustomOperator>(custom, node.name);
  node.schema = CustomOperator::Register(instance, registry_.get());
  lowered_.custom_operators.push_back(std::move(instance));
  return node;
}

Result<ir::Node> Lowerer::MakeNodeOf(const NbgContent& content,
                                     Operation& operation, ValueScope& scope) {
  const OpImpl& impl = *operation.impl();
  ir::Node node = binaries_.at(&impl);
  TIM_RETURN_IF_ERROR(scope.Connect(content.Inputs(impl.inputs),
                                    content.Outputs(impl.outputs), &node));
  return node;
}

Result<ir::Node> Lowerer::MakeNode(Operation& operation, ValueScope& scope) {
  return std::visit(
      [&](const auto& kind) { return MakeNodeOf(kind, operation, scope); },
      operation.impl()->kind);
}

Status Lowerer::AddParts(uint32_t owner, ValueScope& scope) {
  for (Operation* operation : tree_.Parts(owner)) {
    Result<ir::Node> node = MakeNode(*operation, scope);
    if (node.ok()) {
      const Status placed = Place(*operation->impl(), &*node);
      if (!placed.ok()) node = placed;
    }
    if (!node.ok()) {
      return node.status().WithContext(Describe(*operation->impl()));
    }
    Add(*std::move(node), scope);
    if (!scope.is_body()) lowered_.operations.push_back(operation);
  }
  return OkStatus();
}

Status Lowerer::AddCopies(const Tensors& io, ValueScope& scope) {
  TIM_ASSIGN_OR_RETURN(const std::vector<TensorCopy> copies, CopiesOf(io));
  if (copies.empty()) return OkStatus();
  const ir::OpSchema* reshape = operators_.Find("tim.Reshape");
  if (reshape == nullptr) return TIM_INTERNAL("tim.Reshape is not registered");
  for (const TensorCopy& copy : copies) {
    writers_.emplace(copy.to.get(), nullptr);
    ir::Node node;
    node.name = StrCat("copy of ", copy.from->Name());
    node.schema = reshape;
    TIM_RETURN_IF_ERROR(scope.Connect({copy.from}, {copy.to}, &node));
    node.attributes.Set("shape",
                        scope.graph().value(node.inputs[0]).desc.shape.dims());
    TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*reshape, &node.attributes));
    Add(std::move(node), scope);
  }
  return OkStatus();
}

Status Lowerer::Place(const OpImpl& operation, ir::Node* node) const {
  const std::string& device = tree_.AffinityOf(operation);
  if (device.empty()) return OkStatus();
  TIM_ASSIGN_OR_RETURN(node->device,
                       core_.context->options.division.IndexOf(device));
  return OkStatus();
}

void Lowerer::Add(ir::Node node, ValueScope& scope) const {
  const auto& placement = core_.context->options.placement;
  if (placement != nullptr) node.device = placement(node);
  scope.graph().AddNode(std::move(node));
}

void Lowerer::AddInputsAndOutputs(const Tensors& io, const ValueScope& scope) {
  for (const auto& tensor : io) {
    const TensorValues* known = scope.Known(tensor.get());
    if (known == nullptr) continue;  // not bound
    auto made = std::static_pointer_cast<TensorImpl>(tensor);
    if (writers_.count(tensor.get()) != 0) {
      lowered_.graph.AddOutput(known->written);
      lowered_.outputs.push_back(std::move(made));
    } else {
      lowered_.graph.AddInput(known->value);
      lowered_.inputs.push_back(std::move(made));
    }
  }
}

Result<std::shared_ptr<const ir::Graph>> Lowerer::LowerInner(Graph* graph) {
  if (graph == nullptr) return InvalidArgument("it is null");
  const std::shared_ptr<GraphCore> core = CoreOf(graph);
  if (core == nullptr || core->context != core_.context) {
    return InvalidArgument("it is of another context");
  }
  if (depth_ + 1 >= kMaxGraphDepth) {
    return InvalidArgument("it is nested deeper than ", kMaxGraphDepth,
                           " graphs, or it is inside of itself");
  }
  const Operations operations = graph->OpVector();
  Tensors io = graph->InputsTensor();
  for (const auto& output : graph->OutputsTensor()) io.push_back(output);
  Lowerer inner(*core, operations, registry_, depth_ + 1);
  TIM_ASSIGN_OR_RETURN(LoweredGraph made, inner.Lower(operations, io));
  for (const LoweredTensor& entry : made.tensors) {
    lowered_.inner_tensors.push_back(entry.tensor);
  }
  for (auto& tensor : made.inner_tensors) {
    lowered_.inner_tensors.push_back(std::move(tensor));
  }
  for (auto& custom : made.custom_operators) {
    lowered_.custom_operators.push_back(std::move(custom));
  }
  return std::make_shared<const ir::Graph>(std::move(made.graph));
}

Result<LoweredGraph> Lowerer::Lower(const Operations& operations,
                                    const Tensors& io) {
  TIM_RETURN_IF_ERROR(ReadBinaries(operations));
  TIM_RETURN_IF_ERROR(FindWriters(operations));
  ValueScope scope(core_, writers_, &lowered_);
  if (operations.empty()) {
    const Status status = AddCopies(io, scope);
    if (!status.ok()) return status.WithContext(StrCat("graph ", core_.name));
  } else {
    TIM_RETURN_IF_ERROR(AddParts(0, scope));
  }
  if (depth_ > 0) {
    // Operands of the operation that it is in, read or not.
    for (const auto& tensor : io) {
      TIM_RETURN_IF_ERROR(scope.Find(tensor).status());
    }
  }
  AddInputsAndOutputs(io, scope);
  lowered_.registry = registry_;
  return std::move(lowered_);
}

}  // namespace

Result<LoweredGraph> Lower(const GraphCore& core, const Operations& operations,
                           const Tensors& io) {
  return Lowerer(core, operations).Lower(operations, io);
}

}  // namespace tim::vx
