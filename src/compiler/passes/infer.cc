#include "compiler/passes/passes.h"
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
  TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*reshape, &node.attributes));
  graph.AddNode(std::move(node));
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
  if (!value.shape_declared || !shape.IsStatic() || value.desc.shape == shape) {
    const ir::Shape kept = value.shape_declared ? value.desc.shape : shape;
    value.desc = inferred.desc;
    value.desc.shape = kept;
    value.is_scalar = value.is_scalar || inferred.is_scalar;
    return OkStatus();
  }
  if (value.desc.shape.NumElements() != shape.NumElements()) {
    return InvalidArgument("output ", index, " is declared as ",
                           value.desc.shape.ToString(),
                           ", but the operation gives ", shape.ToString(),
                           "; declare as many elements");
  }
  return AddReshape(module, graph, id, index, inferred);
}

Status InferBody(Module& module, Graph& graph);

// A composite's outputs are what its body gives for the node's inputs.
Status InferComposite(Module& module, const Graph& graph, Node& node,
                      InferContext& context) {
  auto copy = std::make_shared<ir::Composite>(*node.composite);
  Graph& body = copy->body;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == ir::kNone || body.inputs()[i] == ir::kNone) continue;
    Value& input = body.value(body.inputs()[i]);
    input.desc = graph.value(node.inputs[i]).desc;
    input.is_scalar = graph.value(node.inputs[i]).is_scalar;
    input.constant = graph.value(node.inputs[i]).constant;
  }
  TIM_RETURN_IF_ERROR(InferBody(module, body));
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
  TIM_ASSIGN_OR_RETURN(
      composite->body,
      node.schema->decompose(NodeDescs(graph, node).view(), module.registry));
  node.composite = std::move(composite);
  return VerifyComposite(node);
}

Status InferOperator(Module& module, Graph& graph, ir::NodeId id) {
  Node& node = graph.node(id);
  InferContext context = MakeContext(graph, node);
  if (node.schema != nullptr) {
    TIM_RETURN_IF_ERROR(node.schema->infer_shapes(context));
  }
  if (!node.composite && node.schema->decompose) {
    TIM_RETURN_IF_ERROR(Decompose(module, graph, node));
  }
  if (node.composite) {
    TIM_RETURN_IF_ERROR(InferComposite(module, graph, node, context));
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (graph.node(id).outputs[i] == ir::kNone) continue;
    TIM_RETURN_IF_ERROR(StoreOutput(module, graph, id, static_cast<int>(i),
                                    context.outputs[i]));
  }
  const Node& done = graph.node(id);
  if (done.composite || !done.schema->check) return OkStatus();
  return done.schema->check(NodeDescs(graph, done).view());
}

Status InferBody(Module& module, Graph& graph) {
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                       graph.TopologicalOrder());
  for (const ir::NodeId id : order) {
    TIM_RETURN_IF_ERROR(InferNode(module, graph, id));
  }
  return OkStatus();
}

}  // namespace

Status InferNode(Module& module, ir::Graph& graph, ir::NodeId id) {
  const Status status = InferOperator(module, graph, id);
  if (status.ok()) return status;
  const Node& node = graph.node(id);
  return Status(status.code(),
                StrCat(Describe(graph, node), ": ", status.message(),
                       DescribeOperands(graph, node)));
}

Status Infer(Module& module) { return InferBody(module, module.graph); }

}  // namespace tim::compiler
