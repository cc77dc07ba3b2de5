// Puts the bodies of composites in their places.
#include <map>
#include <set>
#include <vector>

#include "compiler/offers.h"
#include "compiler/passes/passes.h"
#include "compiler/whole_composites.h"
#include "ir/effect_order.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;

bool IsClaimed(const Module& module, const Graph& graph, ir::NodeId id) {
  if (!HasStaticOperands(graph, graph.node(id))) return false;
  const ir::KernelNode view = ViewOf(module, graph, graph.node(id));
  const int devices = static_cast<int>(module.options.devices.size());
  for (int i = 0; i < devices; ++i) {
    for (const ir::KernelDef* kernel : module.registry.Kernels(
             graph.node(id).composite->name, module.device(i).kind)) {
      if (Analyze(module, *kernel, view, i).ok()) return true;
    }
  }
  return false;
}

// The operator and what its operands are.
std::string KindOf(const Graph& graph, const Node& node) {
  std::string kind = KernelOpName(node);
  for (const auto& operands : {node.inputs, node.outputs}) {
    for (const ir::ValueId id : operands) {
      kind +=
          id == ir::kNone ? " -" : StrCat(" ", graph.value(id).desc.ToString());
    }
  }
  return kind;
}

// Values of the outer graph for those of a body: operands by position, results
// that are computed too, the rest new.  What the body does not name has none.
std::map<ir::ValueId, ir::ValueId> MapValues(Graph& graph, const Node& node) {
  const Graph& body = node.composite->body;
  std::map<ir::ValueId, ir::ValueId> map = {{ir::kNone, ir::kNone}};
  for (size_t i = 0; i < body.inputs().size(); ++i) {
    if (body.inputs()[i] != ir::kNone) map[body.inputs()[i]] = node.inputs[i];
  }
  for (size_t i = 0; i < body.outputs().size(); ++i) {
    const ir::ValueId output = body.outputs()[i];
    if (node.outputs[i] == ir::kNone || body.value(output).constant) continue;
    map.emplace(output, node.outputs[i]);
  }
  for (const ir::ValueId id : body.ValueIds()) {
    if (map.contains(id)) continue;
    const ir::Value& value = body.value(id);
    const std::string name = StrCat(node.name, "/", value.name);
    map[id] = value.constant
                  ? graph.AddConstant(value.desc, value.constant, name)
                  : graph.AddValue(value.desc, value.role, name);
    graph.value(map[id]).is_scalar = value.is_scalar;
  }
  return map;
}

// The body takes the composite's place.  Gives its nodes with ordered effects,
// in their order.
std::vector<ir::NodeId> Expand(ir::NodeId id, Graph& graph) {
  const Node node = graph.node(id);
  graph.RemoveNode(id);
  const auto map = MapValues(graph, node);
  const Graph& body = node.composite->body;
  std::map<ir::NodeId, ir::NodeId> added;
  for (const ir::NodeId inner : body.NodeIds()) {
    Node copy = body.node(inner);
    copy.name = StrCat(node.name, "/", copy.name);
    for (ir::ValueId& input : copy.inputs) input = map.at(input);
    for (ir::ValueId& output : copy.outputs) output = map.at(output);
    if (copy.device < 0) copy.device = node.device;
    added[inner] = graph.AddNode(std::move(copy));
  }
  // An output that is a constant, an input, or another output, of the body.
  for (size_t i = 0; i < body.outputs().size(); ++i) {
    const ir::ValueId inner = map.at(body.outputs()[i]);
    if (node.outputs[i] == ir::kNone || node.outputs[i] == inner) continue;
    graph.ReplaceUses(node.outputs[i], inner);
  }
  std::vector<ir::NodeId> effects = ir::EffectOrder(body);
  for (ir::NodeId& inner : effects) inner = added.at(inner);
  return effects;
}

}  // namespace

// The order of effects is that of ids: it is found once, and set once.
void ExpandComposites(const std::vector<ir::NodeId>& ids, ir::Graph* graph) {
  const std::vector<ir::NodeId> before = ir::EffectOrder(*graph);
  std::map<ir::NodeId, std::vector<ir::NodeId>> effects;
  for (const ir::NodeId id : ids) effects[id] = Expand(id, *graph);
  std::vector<ir::NodeId> order;
  for (const ir::NodeId id : before) {
    const auto expanded = effects.find(id);
    if (expanded == effects.end()) {
      order.push_back(id);
    } else {
      order.insert(order.end(), expanded->second.begin(),
                   expanded->second.end());
    }
  }
  ir::SetEffectOrder(order, graph);
}

Status ExpandComposites(Module& module) {
  Graph& graph = module.graph;
  // Ids grow while composites inside composites appear, which are claimed as
  // the others.
  for (ir::NodeId begin = 0; begin < graph.node_id_limit();) {
    std::vector<ir::NodeId> found;
    for (ir::NodeId id = begin; id < graph.node_id_limit(); ++id) {
      if (!graph.HasNode(id) || !graph.node(id).composite) continue;
      if (!IsClaimed(module, graph, id)) found.push_back(id);
    }
    begin = graph.node_id_limit();
    if (found.empty()) break;
    const std::set<ir::NodeId> claimed = module.whole.none()
                                             ? std::set<ir::NodeId>()
                                             : ClaimedComposites(module);
    std::erase_if(found, [&](ir::NodeId id) {
      const Node& node = graph.node(id);
      if (!claimed.contains(id) || !module.whole.Has(node.name)) return false;
      module.kept_whole.emplace(node.name, KindOf(graph, node));
      return true;
    });
    ExpandComposites(found, &graph);
  }
  return OkStatus();
}

}  // namespace tim::compiler
