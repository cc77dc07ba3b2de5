#include "compiler/doubts.h"
#include "compiler/passes/passes.h"
#include "ir/node_descs.h"
#include "ir/verify/desc_check.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::InferContext;
using ir::Node;
using ir::Value;

InferContext MakeContext(const Graph& graph, const Node& node) {
  InferContext context{.node = node, .inputs = {}, .outputs = {}};
  for (const ir::ValueId id : node.inputs) {
    InferContext::Input& input = context.inputs.emplace_back();
    if (id == ir::kNone) continue;
    const Value& value = graph.value(id);
    input = {&value.desc, value.constant.get(), value.is_scalar,
             value.role == ir::Role::kConstant};
  }
  for (const ir::ValueId id : node.outputs) {
    InferContext::Output& output = context.outputs.emplace_back();
    if (id == ir::kNone) continue;
    const Value& value = graph.value(id);
    output.desc = value.desc;
    output.desc.shape = ir::Shape();
    if (value.shape_declared) output.declared = &value.desc.shape;
  }
  return context;
}

// Puts a Reshape between the node and its output of another declared shape.
Status AddReshape(Module& module, Graph& graph, ir::NodeId id, int index,
                  const InferContext::Output& inferred) {
  const ir::ValueId declared = graph.node(id).outputs[index];
  const ir::OpSchema* reshape = module.registry.Find("tim.Reshape");
  if (reshape == nullptr) return TIM_INTERNAL("tim.Reshape is not registered");
  const ir::ValueId result = graph.AddValue(inferred.desc);
  graph.value(result).is_scalar = inferred.is_scalar;
  graph.SetOutput(id, index, result);
  Node node;
  node.name = StrCat(graph.node(id).name, ".reshape");
  node.schema = reshape;
  node.attributes.Set("shape", graph.value(declared).desc.shape.dims());
  node.inputs = {result};
  node.outputs = {declared};
  node.device = graph.node(id).device;
  TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*reshape, &node.attributes));
  const ir::NodeId added = graph.AddNode(std::move(node));
  if (&graph == &module.graph) module.declared_reshapes.push_back(added);
  return OkStatus();
}

Status StoreOutput(Module& module, Graph& graph, ir::NodeId id, int index,
                   const InferContext::Output& inferred) {
  Value& value = graph.value(graph.node(id).outputs[index]);
  if (inferred.desc.type == ir::DataType::kUnknown) {
    return InvalidArgument("the data type of output ", index,
                           " cannot be inferred; declare it");
  }
  const ir::Shape& shape = inferred.desc.shape;
  if (shape.IsStatic() && !shape.NumElements()) {
    return InvalidArgument("the shape ", shape.ToString(), " of output ", index,
                           " overflows 64 bits");
  }
  if (inferred.desc.quantization != value.desc.quantization) {
    const Status status = ir::CheckQuantization(inferred.desc);
    if (!status.ok()) return status.WithContext(StrCat("output ", index));
  }
  const ir::Shape declared = DeclaredShape(value, shape);
  value.preferred_shape = ir::Shape();
  if (!declared.ranked() || !shape.IsStatic() || declared == shape) {
    value.desc = inferred.desc;
    if (value.shape_declared) value.desc.shape = declared;
    value.is_scalar = value.is_scalar || inferred.is_scalar;
    return OkStatus();
  }
  if (declared.NumElements() != shape.NumElements()) {
    return InvalidArgument("output ", index, " is declared as ",
                           declared.ToString(), ", but the operation gives ",
                           shape.ToString(), "; declare as many elements");
  }
  if (!value.shape_declared || value.desc.type == ir::DataType::kUnknown) {
    value.desc = inferred.desc;
  }
  value.desc.shape = declared;
  return AddReshape(module, graph, id, index, inferred);
}

// A body that an operator consists of has no doubts beside the operator's.
Doubts SaidOfBody(const Node& node, bool decomposed, Doubts said) {
  return decomposed || node.composite->was_compiled ? Doubts::kNone : said;
}

// A composite's outputs are what its body gives for the node's inputs.
Status InferComposite(Module& module, const Graph& graph, Node& node,
                      Doubts said, InferContext& context) {
  auto copy = std::make_shared<ir::Composite>(*node.composite);
  Graph& body = copy->body;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == ir::kNone || body.inputs()[i] == ir::kNone) continue;
    Value& input = body.value(body.inputs()[i]);
    input.desc = graph.value(node.inputs[i]).desc;
    input.is_scalar = graph.value(node.inputs[i]).is_scalar;
    input.constant = graph.value(node.inputs[i]).constant;
  }
  TIM_RETURN_IF_ERROR(InferBody(module, body, said));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == ir::kNone) continue;
    const Value& output = body.value(body.outputs()[i]);
    context.outputs[i].desc = output.desc;
    context.outputs[i].is_scalar = output.is_scalar;
  }
  node.composite = std::move(copy);
  return OkStatus();
}

// An operator that consists of others becomes a composite of them.
Status Decompose(Module& module, const Graph& graph, Node& node) {
  auto composite = std::make_shared<ir::Composite>();
  composite->name = StrCat(node.schema->domain, ".", node.schema->name);
  TIM_ASSIGN_OR_RETURN(composite->body,
                       node.schema->decompose(ir::NodeDescs(graph, node).view(),
                                              module.registry));
  node.composite = std::move(composite);
  return VerifyComposite(node);
}

// `shape_doubt` becomes what ShapeDoubt says.
Status InferOperator(Module& module, Graph& graph, ir::NodeId id, Doubts said,
                     std::string* shape_doubt) {
  Node& node = graph.node(id);
  if (ir::ControlOf(node)) {
    TIM_RETURN_IF_ERROR(InferControl(module, graph, node));
  }
  InferContext context = MakeContext(graph, node);
  if (node.schema != nullptr) {
    TIM_RETURN_IF_ERROR(node.schema->infer_shapes(context));
  }
  const bool decomposed = !node.composite && node.schema->decompose;
  if (!node.composite) *shape_doubt = ShapeDoubt(graph, node, context);
  if (decomposed) TIM_RETURN_IF_ERROR(Decompose(module, graph, node));
  if (node.composite) {
    TIM_RETURN_IF_ERROR(InferComposite(
        module, graph, node, SaidOfBody(node, decomposed, said), context));
    if (!decomposed) *shape_doubt = ShapeDoubt(graph, node, context);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (graph.node(id).outputs[i] == ir::kNone) continue;
    TIM_RETURN_IF_ERROR(StoreOutput(module, graph, id, static_cast<int>(i),
                                    context.outputs[i]));
  }
  const Node& done = graph.node(id);
  if (done.composite || !done.schema->check) return OkStatus();
  return done.schema->check(ir::NodeDescs(graph, done).view());
}

}  // namespace

Status InferBody(Module& module, Graph& graph, Doubts said) {
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                       graph.TopologicalOrder());
  for (const ir::NodeId id : order) {
    TIM_RETURN_IF_ERROR(InferNode(module, graph, id, said));
  }
  return OkStatus();
}

Status InferNode(Module& module, ir::Graph& graph, ir::NodeId id, Doubts said) {
  const bool has_parts = graph.node(id).composite != nullptr;
  std::string doubt;
  std::string cause;
  Status status = InferOperator(module, graph, id, said, &doubt);
  const Node& node = graph.node(id);
  if (!status.ok()) {
    cause = LikelyCause(graph, node);
  } else if (said != Doubts::kNone && !doubt.empty()) {
    status = Doubt(module, graph, node, doubt);
  }
  if (status.ok() && said == Doubts::kAll && !has_parts) {
    status = SayDoubts(module, graph, node);
  }
  if (status.ok()) return status;
  return Status(status.code(),
                StrCat(Describe(graph, node), ": ", status.message(), cause,
                       DescribeOperands(graph, node)));
}

Status InferShapes(Module& module) {
  return InferBody(module, module.graph, Doubts::kAll);
}

}  // namespace tim::compiler
