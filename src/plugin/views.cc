// Makes views of graphs and nodes, which own all data that plug-ins read.
#include "plugin/views.h"

#include <utility>
#include <variant>

#include "ir/node_descs.h"

TimNode::TimNode() = default;
TimNode::~TimNode() = default;
TimGraph::TimGraph() = default;
TimGraph::~TimGraph() = default;

namespace tim::plugin {
namespace {

using GraphAttribute = std::shared_ptr<const ir::Graph>;

bool AreStatic(const std::vector<const ir::TensorDesc*>& descs) {
  for (const ir::TensorDesc* desc : descs) {
    if (desc != nullptr && !desc->shape.IsStatic()) return false;
  }
  return true;
}

ir::ComputeEstimate EstimateOf(
    const ir::Node& node, const std::vector<const ir::TensorDesc*>& inputs,
    const std::vector<const ir::TensorDesc*>& outputs) {
  if (node.schema == nullptr || node.composite || !AreStatic(inputs) ||
      !AreStatic(outputs)) {
    return {};
  }
  return node.schema->compute_estimate({node, inputs, outputs});
}

Status AddAttributes(const ir::Node& node, TimNode* view) {
  for (const auto& [name, value] : node.attributes.entries()) {
    NamedAttribute attribute;
    attribute.name = name;
    const auto* graph = std::get_if<GraphAttribute>(&value);
    if (graph != nullptr && *graph != nullptr) {
      TIM_ASSIGN_OR_RETURN(attribute.graph, ViewOf(**graph));
    }
    attribute.value =
        std::make_unique<AttributeView>(value, attribute.graph.get());
    view->attributes.push_back(std::move(attribute));
  }
  return OkStatus();
}

std::string OpOf(const ir::Node& node) {
  if (node.composite) return node.composite->name;
  if (node.schema == nullptr) return "";
  return StrCat(node.schema->domain, ".", node.schema->name);
}

std::unique_ptr<DescView> DescOrNull(const ir::TensorDesc* desc,
                                     bool is_scalar) {
  if (desc == nullptr) return nullptr;
  return std::make_unique<DescView>(*desc, is_scalar);
}

// A view without attributes.
std::unique_ptr<TimNode> Begin(const ir::Node& node,
                               const std::vector<OperandView>& inputs,
                               const std::vector<OperandView>& outputs) {
  auto view = std::make_unique<TimNode>();
  view->node = &node;
  view->op = OpOf(node);
  std::vector<const ir::TensorDesc*> input_descs;
  std::vector<const ir::TensorDesc*> output_descs;
  for (const OperandView& input : inputs) {
    view->inputs.push_back(DescOrNull(input.desc, input.is_scalar));
    view->constants.push_back(input.constant);
    input_descs.push_back(input.desc);
  }
  for (const OperandView& output : outputs) {
    view->outputs.push_back(DescOrNull(output.desc, output.is_scalar));
    output_descs.push_back(output.desc);
  }
  view->estimate = EstimateOf(node, input_descs, output_descs);
  return view;
}

// The operator that a fused node begins with, and those that follow.
Status AddFusion(const ir::KernelNode& node, TimNode* view) {
  const size_t own = node.anchor->inputs.size();
  std::vector<OperandView> inputs;
  for (size_t i = 0; i < own && i < node.inputs.size(); ++i) {
    inputs.push_back({node.present[i] ? &node.inputs[i] : nullptr, false,
                      node.constants[i]});
  }
  view->anchor = Begin(*node.anchor, inputs, {{&node.anchor_output}});
  TIM_RETURN_IF_ERROR(AddAttributes(*node.anchor, view->anchor.get()));
  view->estimate = view->anchor->estimate;
  const ir::TensorDesc* running = &node.anchor_output;
  for (const ir::EpilogueStep& step : node.epilogue) {
    std::vector<OperandView> operands;
    EpilogueView& epilogue = view->epilogue.emplace_back();
    for (const int operand : step.operands) {
      const bool is_input =
          operand >= 0 && operand < static_cast<int>(node.inputs.size());
      const bool present = is_input && node.present[operand];
      operands.push_back({operand == ir::kRunning ? running
                          : present               ? &node.inputs[operand]
                                                  : nullptr,
                          false, present ? node.constants[operand] : nullptr});
      epilogue.operands.push_back(operand);
    }
    epilogue.node = Begin(*step.node, operands, {{&step.result}});
    TIM_RETURN_IF_ERROR(AddAttributes(*step.node, epilogue.node.get()));
    ir::Add(epilogue.node->estimate, &view->estimate);
    running = &step.result;
  }
  return OkStatus();
}

Status AddBody(const ir::Node& node, TimNode* view) {
  if (!node.composite) return OkStatus();
  TIM_ASSIGN_OR_RETURN(view->body, ViewOf(node.composite->body));
  if (view->anchor != nullptr) return OkStatus();
  for (const auto& inner : view->body->nodes) {
    ir::Add(inner->estimate, &view->estimate);
  }
  return OkStatus();
}

OperandView OperandOf(const ir::Graph& graph, ir::ValueId id) {
  if (id == ir::kNone) return {};
  const ir::Value& value = graph.value(id);
  return {&value.desc, value.is_scalar, value.constant};
}

Result<std::unique_ptr<TimNode>> ViewOf(const ir::Graph& graph,
                                        const ir::Node& node) {
  std::vector<OperandView> inputs;
  std::vector<OperandView> outputs;
  for (const ir::ValueId id : node.inputs) {
    inputs.push_back(OperandOf(graph, id));
  }
  for (const ir::ValueId id : node.outputs) {
    outputs.push_back(OperandOf(graph, id));
  }
  auto view = Begin(node, inputs, outputs);
  TIM_RETURN_IF_ERROR(AddAttributes(node, view.get()));
  TIM_RETURN_IF_ERROR(AddBody(node, view.get()));
  return view;
}

}  // namespace

Result<std::unique_ptr<TimNode>> ViewOf(const ir::KernelNode& node) {
  std::vector<OperandView> inputs;
  std::vector<OperandView> outputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    inputs.push_back({node.present[i] ? &node.inputs[i] : nullptr, false,
                      node.constants[i]});
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const bool present = node.node->outputs[i] != ir::kNone;
    outputs.push_back({present ? &node.outputs[i] : nullptr});
  }
  auto view = Begin(*node.node, inputs, outputs);
  TIM_RETURN_IF_ERROR(AddAttributes(*node.node, view.get()));
  if (node.anchor != node.node) {
    TIM_RETURN_IF_ERROR(AddFusion(node, view.get()));
  }
  TIM_RETURN_IF_ERROR(AddBody(*node.node, view.get()));
  return view;
}

std::unique_ptr<TimNode> ViewOf(const ir::Node& node,
                                const std::vector<OperandView>& inputs,
                                const std::vector<OperandView>& outputs) {
  auto view = Begin(node, inputs, outputs);
  // Graphs among attributes were verified before any operator is asked.
  static_cast<void>(AddAttributes(node, view.get()));
  return view;
}

Result<std::unique_ptr<TimGraph>> ViewOf(const ir::Graph& graph) {
  auto view = std::make_unique<TimGraph>();
  view->graph = &graph;
  for (const ir::ValueId id : graph.ValueIds()) {
    const ir::Value& value = graph.value(id);
    view->values[id] = std::make_unique<DescView>(value.desc, value.is_scalar);
  }
  TIM_ASSIGN_OR_RETURN(const auto order, graph.TopologicalOrder());
  for (const ir::NodeId id : order) {
    view->places[id] = static_cast<int32_t>(view->nodes.size());
    TIM_ASSIGN_OR_RETURN(view->nodes.emplace_back(),
                         ViewOf(graph, graph.node(id)));
  }
  return view;
}

}  // namespace tim::plugin
