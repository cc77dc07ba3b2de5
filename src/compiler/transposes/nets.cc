#include "compiler/transposes/nets.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tim::compiler {
namespace {

using ir::NodeId;
using ir::Permutation;
using ir::ValueId;

// A step costs as much as moving so many bytes; a view next to nothing.
constexpr double kStepBytes = 1 << 12;
constexpr double kViewBytes = 1;
constexpr double kUnknownBytes = 1 << 20;

Permutation PermOf(const ir::Node& node) {
  const auto& perm = node.attributes.Ints("perm");
  return Permutation(perm.begin(), perm.end());
}

// It only moves elements, and its result has the shape that this gives.
bool IsPure(const ir::Graph& graph, const ir::Node& node) {
  if (node.composite || node.schema->Key() != "tim.Transpose@1") return false;
  const ir::TensorDesc& output = graph.value(node.outputs[0]).desc;
  const ir::TensorDesc moved =
      ir::Permuted(graph.value(node.inputs[0]).desc, PermOf(node));
  return ir::SameElements(moved, output) && moved.shape == output.shape;
}

}  // namespace

Nets::Nets(const ir::Graph& graph, const std::vector<NodeId>& order,
           const std::function<bool(const ir::Node&)>& stays,
           PortCost port_cost)
    : graph_(graph),
      port_cost_(port_cost),
      net_of_(graph.value_id_limit(), -1),
      orders_(graph.value_id_limit()) {
  for (const ValueId id : graph.ValueIds()) {
    if (graph.value(id).producer == ir::kNone) AddNet(id);
  }
  std::set<NodeId> gone;
  for (const NodeId id : order) {
    const ir::Node& node = graph.node(id);
    if (IsPure(graph, node) && !stays(node)) {
      AddToNet(node);
      gone.insert(id);
      continue;
    }
    for (const ValueId output : node.outputs) {
      if (output != ir::kNone) AddNet(output);
    }
  }
  for (const ValueId id : graph.ValueIds()) {
    std::vector<Sink>& sinks = nets_[net_of_[id]].sinks;
    if (graph.IsLiveOut(id)) sinks.push_back({.value = id});
    for (const ir::Use& use : graph.value(id).uses) {
      if (gone.contains(use.node)) continue;
      sinks.push_back({use.node, use.index, id});
    }
  }
}

void Nets::AddNet(ValueId root) {
  const ir::Value& value = graph_.value(root);
  net_of_[root] = static_cast<int>(nets_.size());
  orders_[root] = ir::IdentityPermutation(value.desc.shape.rank());
  nets_.push_back({.root = root,
                   .driver = value.producer,
                   .output = value.producer_index,
                   .sinks = {},
                   .transposes = {}});
}

void Nets::AddToNet(const ir::Node& node) {
  const ValueId from = node.inputs[0];
  const ValueId to = node.outputs[0];
  net_of_[to] = net_of_[from];
  orders_[to] = ir::Compose(orders_[from], PermOf(node));
  nets_[net_of_[to]].transposes.push_back(node.id);
}

Permutation Nets::OrderBy(ValueId value, const Permutation& perm) const {
  return ir::Compose(orders_[value], perm);
}

Permutation Nets::Driven(const Net& net, const PermutedNodes& nodes) const {
  const auto found = nodes.find(net.driver);
  if (net.driver == ir::kNone || found == nodes.end()) {
    return orders_[net.root];
  }
  return OrderBy(net.root, found->second->outputs[net.output]);
}

Permutation Nets::Wanted(const Sink& sink, const PermutedNodes& nodes) const {
  const auto found = nodes.find(sink.node);
  if (sink.node == ir::kNone || found == nodes.end()) {
    return orders_[sink.value];
  }
  return OrderBy(sink.value, found->second->inputs[sink.operand]);
}

// Rows of elements that are parts of bytes end with whole ones.
Permutation Nets::Key(const Net& net, const Permutation& order) const {
  const ir::TensorDesc& desc = graph_.value(net.root).desc;
  if (desc.type != ir::DataType::kUnknown && ir::Info(desc.type).bits < 8) {
    return order;
  }
  Permutation key;
  for (const int axis : order) {
    if (desc.shape.DimOr1(axis) != 1) key.push_back(axis);
  }
  return key;
}

bool Nets::IsFreelyDriven(const Net& net) const {
  return port_cost_ == PortCost::kFree &&
         graph_.value(net.root).role == ir::Role::kInput &&
         !graph_.IsLiveOut(net.root);
}

bool Nets::IsFreelyRead(const Net& net) const {
  return port_cost_ == PortCost::kFree && net.driver != ir::kNone &&
         net.sinks.size() == 1 && graph_.IsOutput(net.sinks[0].value);
}

double Nets::Weight(const Net& net) const {
  const ir::Value& root = graph_.value(net.root);
  if (root.role == ir::Role::kConstant) return 0;
  const auto bytes = ir::ByteSize(root.desc);
  return kStepBytes +
         (bytes.ok() ? static_cast<double>(*bytes) : kUnknownBytes);
}

double Nets::Cost(const Net& net, const PermutedNodes& nodes) const {
  if (graph_.value(net.root).role == ir::Role::kConstant) return 0;
  if (IsFreelyRead(net) || net.sinks.empty()) return 0;
  const Permutation first =
      IsFreelyDriven(net) ? Wanted(net.sinks[0], nodes) : Driven(net, nodes);
  std::set<Permutation> orders = {first};
  std::set<Permutation> keys = {Key(net, first)};
  double cost = 0;
  for (const Sink& sink : net.sinks) {
    Permutation wanted = Wanted(sink, nodes);
    const bool moves = keys.insert(Key(net, wanted)).second;
    const bool differs = orders.insert(std::move(wanted)).second;
    cost += moves ? Weight(net) : differs ? kViewBytes : 0;
  }
  return cost;
}

}  // namespace tim::compiler
