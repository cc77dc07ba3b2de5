#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/memory/in_place_parts.h"
#include "compiler/offers.h"
#include "compiler/passes/passes.h"
#include "ir/element_map/compose.h"
#include "ir/element_map_attributes.h"
#include "ir/node_descs.h"

namespace tim::compiler {
namespace {

using ir::ElementMap;
using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Value;

// Nodes that follow one another, the last one first, and their map.
struct Chain {
  std::vector<NodeId> nodes;
  ElementMap map;
};

const Value& InputOf(const Graph& graph, NodeId id) {
  return graph.value(graph.node(id).inputs[0]);
}
const Value& OutputOf(const Graph& graph, NodeId id) {
  return graph.value(graph.node(id).outputs[0]);
}

bool HasChannels(const ir::TensorDesc& desc) {
  return desc.quantized() && desc.quantization.per_channel();
}

int64_t CountOf(const Value& value) {
  return value.desc.shape.NumElements().value_or(0);
}

// Of a node of one input and output which no rule binds to its place.
std::optional<ElementMap> MapOf(const Module& module, NodeId id) {
  const Graph& graph = module.graph;
  const Node& node = graph.node(id);
  if (node.composite || !node.schema->element_map || node.inputs.empty() ||
      node.inputs[0] == ir::kNone || node.outputs.size() != 1 ||
      node.outputs[0] == ir::kNone || IsPinned(module, id) ||
      !HasStaticOperands(graph, node) || HasChannels(InputOf(graph, id).desc) ||
      HasChannels(OutputOf(graph, id).desc)) {
    return std::nullopt;
  }
  auto map = node.schema->element_map(ir::NodeDescs(graph, node).view());
  if (!map || !ir::IsWellFormed(*map) ||
      !ir::StaysInside(*map, CountOf(InputOf(graph, id)))) {
    return std::nullopt;
  }
  return map;
}

// Adds the node that makes the chain's input, where nobody else reads that, its
// elements stay as they are, and the maps compose.
bool Extend(const Module& module, Chain* chain) {
  const Graph& graph = module.graph;
  const Value& middle = InputOf(graph, chain->nodes.back());
  if (middle.producer == ir::kNone || middle.uses.size() != 1 ||
      graph.IsLiveOut(middle.id)) {
    return false;
  }
  const auto map = MapOf(module, middle.producer);
  if (!map) return false;
  const ir::TensorDesc& output = OutputOf(graph, chain->nodes.front()).desc;
  const Value& input = InputOf(graph, middle.producer);
  // What the middle makes of a zero is what the output would make of it.
  const bool same_zeros =
      map->bounds.empty() || ir::SameElements(middle.desc, output);
  if (!same_zeros || !ir::SameElements(input.desc, middle.desc)) return false;
  auto composed = ir::Compose(*map, chain->map);
  if (!composed || !ir::StaysInside(*composed, CountOf(input))) return false;
  chain->map = *std::move(composed);
  chain->nodes.push_back(middle.producer);
  return true;
}

// What kernels of devices other than the host make of a node.
struct Reach {
  bool runs = false;
  bool in_blocks = false;  ///< In layouts that are not dense, too.
};

Reach ReachOf(const Module& module, const Node& node) {
  const ir::KernelNode view = ViewOf(module, module.graph, node);
  Reach reach;
  for (int i = 1; i < static_cast<int>(module.options.devices.size()); ++i) {
    const ir::DeviceInfo& device = module.device(i);
    for (const Offer& offer : OffersOn(module, view, i)) {
      if (!offer.problem.ok()) continue;
      reach.runs = true;
      for (const ir::LayoutTuple& tuple :
           ir::LayoutsOf(*offer.kernel, *offer.problem, view, device)) {
        reach.in_blocks |= !(tuple == ir::DenseLayouts(view));
      }
    }
  }
  return reach;
}

// Its result lies in its input as it is.
bool IsFree(const Module& module, const Node& node) {
  const ir::NodeDescs descs(module.graph, node);
  return (node.schema->is_view && node.schema->is_view(descs.view())) ||
         IsViewOfParts(module, descs.view());
}

// The node that does what the chain does.
Result<Node> NodeOf(const Module& module, const Chain& chain) {
  const Graph& graph = module.graph;
  const Node& last = graph.node(chain.nodes.front());
  const Node& first = graph.node(chain.nodes.back());
  Node node;
  node.name = StrCat(first.name, "+", last.name);
  node.schema = module.registry.Find(ir::kElementMapOp);
  node.inputs = {first.inputs[0]};
  node.outputs = {last.outputs[0]};
  const ir::Shape& shape = graph.value(last.outputs[0]).desc.shape;
  node.attributes = ir::AttributesOf(chain.map, shape);
  TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*node.schema, &node.attributes));
  return node;
}

// Elements that are repeated are better brought together first.
bool RepeatsScattered(const ElementMap& map) {
  const auto& strides = map.strides;
  return strides[0] != 0 && strides[0] != 1 &&
         std::find(strides.begin(), strides.end(), 0) != strides.end();
}

// Whether the chain's steps write more than one step instead of them does, or
// do not take the blocks that it takes.
bool IsWorthIt(const Module& module, const Chain& chain, const Node& node) {
  const Graph& graph = module.graph;
  if (ir::NodeDescs descs(graph, node);
      node.schema->is_identity(descs.view())) {
    return true;
  }
  int64_t written = 0;
  bool in_blocks = true;
  for (const NodeId id : chain.nodes) {
    const Node& step = graph.node(id);
    if (!IsFree(module, step)) written += CountOf(OutputOf(graph, id));
    in_blocks = in_blocks && ReachOf(module, step).in_blocks;
  }
  if (node.schema->is_view(ir::NodeDescs(graph, node).view()))
    return written > 0;
  const Reach reach = ReachOf(module, node);
  if (module.options.devices.size() > 1 && !reach.runs) return false;
  if (reach.in_blocks != in_blocks) return reach.in_blocks;
  return written > CountOf(OutputOf(graph, chain.nodes.front())) &&
         !RepeatsScattered(chain.map);
}

// Puts the node, or nothing where it does nothing, in the chain's place.
void Replace(Module& module, const Chain& chain, Node node) {
  Graph& graph = module.graph;
  const ir::ValueId input = node.inputs[0];
  const ir::ValueId output = node.outputs[0];
  const bool is_identity =
      node.schema->is_identity(ir::NodeDescs(graph, node).view()) &&
      graph.value(input).is_scalar == graph.value(output).is_scalar;
  std::vector<ir::ValueId> middle;
  for (const NodeId id : chain.nodes) {
    if (id != chain.nodes.back()) middle.push_back(graph.node(id).inputs[0]);
    graph.RemoveNode(id);
  }
  for (const ir::ValueId id : middle) graph.RemoveValue(id);
  if (is_identity) {
    graph.ReplaceUses(output, input);
    graph.RemoveValue(output);
  } else {
    graph.AddNode(std::move(node));
  }
}

// The longest chain that ends with `id` and is better as one node.
Status ComposeInto(Module& module, NodeId id) {
  const auto map = MapOf(module, id);
  if (!map) return OkStatus();
  Chain chain{.nodes = {id}, .map = *map};
  std::optional<std::pair<Chain, Node>> best;
  while (Extend(module, &chain)) {
    TIM_ASSIGN_OR_RETURN(Node node, NodeOf(module, chain));
    if (IsWorthIt(module, chain, node)) best.emplace(chain, std::move(node));
  }
  if (best) Replace(module, best->first, std::move(best->second));
  return OkStatus();
}

}  // namespace

Status ComposeMaps(Module& module) {
  if (module.registry.Find(ir::kElementMapOp) == nullptr) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const std::vector<NodeId> order,
                       module.graph.TopologicalOrder());
  for (const NodeId id : order) {
    if (!module.graph.HasNode(id)) continue;
    TIM_RETURN_IF_ERROR(ComposeInto(module, id));
  }
  return OkStatus();
}

}  // namespace tim::compiler
