// Graphs from below the front as graphs of values.
#include <map>
#include <utility>

#include "base/status.h"
#include "ir/op_schema.h"
#include "values/graph_state.h"

namespace tim::values::internal {
namespace {

// The node with what the graph declares of its outputs; trailing ones that are
// not wanted are left out.
std::shared_ptr<const NodeState> NodeFor(const ir::Graph& graph,
                                         const ir::Node& source) {
  auto node = std::make_shared<NodeState>();
  node->op = source.composite != nullptr
                 ? source.composite->name
                 : StrCat(source.schema->domain, ".", source.schema->name);
  node->schema = source.schema;
  node->composite = source.composite;
  node->attributes = source.attributes;
  size_t wanted = source.outputs.size();
  if (source.composite == nullptr) {
    while (wanted > 0 && source.outputs[wanted - 1] == ir::kNone) --wanted;
  }
  for (size_t i = 0; i < wanted; ++i) {
    ir::TensorDesc& declared = node->outputs.emplace_back();
    if (source.outputs[i] == ir::kNone) continue;
    const ir::Value& value = graph.value(source.outputs[i]);
    declared = value.desc;
    if (!value.shape_declared) declared.shape = ir::Shape();
  }
  return node;
}

}  // namespace

Status GraphState::ImportNode(const ir::Graph& graph, const ir::Node& source,
                              std::map<ir::ValueId, ir::ValueId>* ids) {
  std::vector<ir::ValueId> operands;
  for (const ir::ValueId id : source.inputs) {
    if (!ids->contains(id)) {
      const ir::Value& value = graph.value(id);
      if (value.constant == nullptr) {
        return InvalidArgument("nothing makes its operand ", value.name);
      }
      (*ids)[id] = AddConstant({value.desc, value.is_scalar}, value.constant,
                               value.name);
    }
    operands.push_back(ids->at(id));
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::ValueId> outputs,
                       AddNode(NodeFor(graph, source), operands));
  graph_.node(graph_.value(outputs[0]).producer).name = source.name;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (source.outputs[i] == ir::kNone) continue;
    const ir::Value& value = graph.value(source.outputs[i]);
    TensorSpec& spec = specs_[static_cast<size_t>(outputs[i])];
    if (spec.desc.type != value.desc.type ||
        spec.desc.shape != value.desc.shape) {
      return InvalidArgument("output ", i, " is ", value.desc.ToString(),
                             " there, and ", spec.desc.ToString(), " here");
    }
    (*ids)[source.outputs[i]] = outputs[i];
    graph_.value(outputs[i]).name = value.name;
    if (value.is_scalar) {
      spec.is_scalar = true;
      graph_.value(outputs[i]).is_scalar = true;
    }
  }
  return OkStatus();
}

Result<std::shared_ptr<GraphState>> GraphState::Import(const ir::Graph& graph) {
  auto made = std::make_shared<GraphState>(graph.name());
  std::map<ir::ValueId, ir::ValueId> ids = {{ir::kNone, ir::kNone}};
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Value& value = graph.value(id);
    ids[id] = made->AddValue({value.desc, value.is_scalar}, ir::Role::kInput,
                             value.name);
    made->inputs_.push_back(ids[id]);
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                       graph.TopologicalOrder());
  for (const ir::NodeId id : order) {
    const ir::Node& node = graph.node(id);
    const Status status = made->ImportNode(graph, node, &ids);
    if (!status.ok()) return status.WithContext(node.name);
  }
  for (const ir::ValueId id : graph.outputs()) {
    made->outputs_.push_back(ids.at(id));
  }
  return made;
}

}  // namespace tim::values::internal
