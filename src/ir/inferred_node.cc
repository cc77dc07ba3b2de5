// Adds nodes with inferred outputs, by the functions of their schemas alone.
#include "ir/inferred_node.h"

#include <utility>

#include "ir/op_registry.h"
#include "ir/op_schema.h"

namespace tim::ir {
namespace {

InferContext ContextOf(const Graph& graph, const Node& node,
                       const std::vector<TensorDesc>& outputs) {
  InferContext context{.node = node, .inputs = {}, .outputs = {}};
  for (const ValueId id : node.inputs) {
    InferContext::Input& input = context.inputs.emplace_back();
    if (id == kNone) continue;
    const Value& value = graph.value(id);
    input = {&value.desc, value.constant.get(), value.is_scalar,
             value.role == Role::kConstant};
  }
  for (const TensorDesc& desc : outputs) {
    InferContext::Output& output = context.outputs.emplace_back();
    output.desc = desc;
    output.desc.shape = Shape();
    if (desc.shape.ranked()) output.declared = &desc.shape;
  }
  return context;
}

Status CheckOutput(const InferContext::Output& output, size_t index) {
  if (output.declared == nullptr || output.desc.shape == *output.declared) {
    return OkStatus();
  }
  return InvalidArgument("output ", index, " is ", output.desc.shape.ToString(),
                         ", expected ", output.declared->ToString());
}

Status Check(const Graph& graph, const Node& node,
             const InferContext& context) {
  std::vector<const TensorDesc*> inputs;
  for (const ValueId id : node.inputs) {
    inputs.push_back(id == kNone ? nullptr : &graph.value(id).desc);
  }
  std::vector<const TensorDesc*> outputs;
  for (const InferContext::Output& output : context.outputs) {
    outputs.push_back(&output.desc);
  }
  // Operators that consist of others are checked as these.
  if (!node.schema->check || node.schema->decompose) return OkStatus();
  return node.schema->check({node, inputs, outputs});
}

Status Infer(const Graph& graph, Node* node, InferContext* context) {
  TIM_RETURN_IF_ERROR(node->schema->infer_shapes(*context));
  for (size_t i = 0; i < context->outputs.size(); ++i) {
    InferContext::Output& output = context->outputs[i];
    TIM_RETURN_IF_ERROR(CheckOutput(output, i));
    if (output.desc.type == DataType::kUnknown && context->has_input(0)) {
      output.desc.type = context->inputs[0].desc->type;
    }
  }
  return Check(graph, *node, *context);
}

}  // namespace

Result<NodeId> AddInferredNode(NewNode added, const OpRegistry& registry,
                               Graph* graph) {
  Node node;
  node.schema = registry.Find(added.op);
  if (node.schema == nullptr) {
    return Unimplemented("there is no operator ", added.op);
  }
  node.name = added.name.empty()
                  ? StrCat(node.schema->name, "#", graph->node_id_limit())
                  : std::move(added.name);
  node.inputs = std::move(added.inputs);
  node.attributes = std::move(added.attributes);
  // Values for the check of counts alone; the real ones follow what may fail.
  node.outputs.assign(added.outputs.size(), 0);
  TIM_RETURN_IF_ERROR(CompleteAttributes(*node.schema, &node.attributes)
                          .WithContext(node.name));
  TIM_RETURN_IF_ERROR(CheckOperandCounts(node).WithContext(node.name));
  InferContext context = ContextOf(*graph, node, added.outputs);
  TIM_RETURN_IF_ERROR(Infer(*graph, &node, &context).WithContext(node.name));
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    const ValueId id = graph->AddValue(context.outputs[i].desc);
    graph->value(id).is_scalar = context.outputs[i].is_scalar;
    graph->value(id).shape_declared = added.outputs[i].shape.ranked();
    node.outputs[i] = id;
  }
  return graph->AddNode(std::move(node));
}

}  // namespace tim::ir
