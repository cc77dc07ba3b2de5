#include "compiler/passes/passes.h"
#include "ir/evaluate.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

bool CanFold(const Graph& graph, const Node& node) {
  if (node.composite || node.inputs.empty() || !ir::CanEvaluate(node)) {
    return false;
  }
  if (node.schema->effects.random || node.schema->effects.reads_state) {
    return false;
  }
  for (const ir::ValueId id : node.inputs) {
    if (id != ir::kNone && !graph.value(id).constant) return false;
  }
  for (const ir::ValueId id : node.outputs) {
    if (id != ir::kNone && !graph.value(id).desc.shape.IsStatic()) return false;
  }
  return true;
}

// Evaluates a node of constants; its outputs become constants.
Status FoldNode(Graph& graph, ir::NodeId id) {
  const Node& node = graph.node(id);
  std::vector<ir::ConstTensor> inputs;
  for (const ir::ValueId input : node.inputs) {
    if (input == ir::kNone) {
      inputs.emplace_back();
      continue;
    }
    const Value& value = graph.value(input);
    inputs.push_back({&value.desc, value.constant->bytes.data()});
  }
  std::vector<std::vector<std::byte>> bytes(node.outputs.size());
  std::vector<ir::MutableTensor> outputs(node.outputs.size());
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == ir::kNone) continue;
    const ir::TensorDesc& desc = graph.value(node.outputs[i]).desc;
    TIM_ASSIGN_OR_RETURN(const int64_t size, ir::ByteSize(desc));
    bytes[i].resize(size);
    outputs[i] = {&desc, bytes[i].data()};
  }
  TIM_RETURN_IF_ERROR(ir::Evaluate(node, inputs, outputs));
  const std::vector<ir::ValueId> results = node.outputs;
  graph.RemoveNode(id);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] == ir::kNone) continue;
    Value& value = graph.value(results[i]);
    value.role = ir::Role::kConstant;
    value.constant = ir::MakeConstant(bytes[i]);
  }
  return OkStatus();
}

bool IsIdentity(const Graph& graph, const Node& node) {
  if (node.composite || !node.schema->is_identity) return false;
  return node.schema->is_identity(NodeDescs(graph, node).view());
}

void RemoveDeadNodes(Graph& graph, const std::vector<ir::NodeId>& order) {
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (!graph.HasNode(*it)) continue;
    bool needed = false;
    for (const ir::ValueId id : graph.node(*it).outputs) {
      if (id == ir::kNone) continue;
      needed |= !graph.value(id).uses.empty() || graph.IsLiveOut(id);
    }
    if (!needed) graph.RemoveNode(*it);
  }
}

void RemoveDeadValues(Graph& graph) {
  std::vector<bool> kept(graph.value_id_limit(), false);
  for (const ir::ValueId id : graph.inputs()) kept[id] = true;
  for (const ir::ValueId id : graph.outputs()) kept[id] = true;
  for (const auto& update : graph.state_updates()) {
    kept[update.state] = kept[update.value] = true;
  }
  for (const ir::ValueId id : graph.ValueIds()) {
    const Value& value = graph.value(id);
    if (kept[id] || value.producer != ir::kNone || !value.uses.empty())
      continue;
    if (value.role != ir::Role::kState) graph.RemoveValue(id);
  }
}

}  // namespace

Status Simplify(Module& module) {
  Graph& graph = module.graph;
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                       graph.TopologicalOrder());
  for (const ir::NodeId id : order) {
    const Node& node = graph.node(id);
    if (IsIdentity(graph, node)) {
      const ir::ValueId from = node.outputs[0];
      const ir::ValueId to = node.inputs[0];
      graph.RemoveNode(id);
      graph.ReplaceUses(from, to);
    } else if (CanFold(graph, node)) {
      const std::string what = Describe(graph, node);
      TIM_RETURN_IF_ERROR(FoldNode(graph, id).WithContext(what));
    }
  }
  RemoveDeadNodes(graph, order);
  RemoveDeadValues(graph);
  return OkStatus();
}

}  // namespace tim::compiler
