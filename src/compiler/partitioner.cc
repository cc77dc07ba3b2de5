// Division of nodes into parts: joining, limits, and the order of the result.
#include "compiler/partitioner.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "compiler/part_graph.h"
#include "ir/effect_order.h"

namespace tim::compiler {
namespace {

using Lists = std::vector<std::vector<size_t>>;

// A topological order, of those that could be next the least.  Shorter than
// `producers` where there is a cycle.
std::vector<size_t> TopologicalOrder(const Lists& producers) {
  std::vector<size_t> waits(producers.size());
  Lists users(producers.size());
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t node = 0; node < producers.size(); ++node) {
    waits[node] = producers[node].size();
    if (waits[node] == 0) ready.push(node);
    for (const size_t producer : producers[node]) {
      users[producer].push_back(node);
    }
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const size_t user : users[order.back()]) {
      if (--waits[user] == 0) ready.push(user);
    }
  }
  return order;
}

Status CheckLimits(const PartitionLimits& limits) {
  if (limits.max_ops != 0 && limits.min_ops > limits.max_ops) {
    return InvalidArgument("min_ops ", limits.min_ops, " is more than max_ops ",
                           limits.max_ops,
                           ": no partition could be left; raise max_ops, or "
                           "set it to 0 for no limit");
  }
  return OkStatus();
}

Status CheckInput(const PartitionInput& input) {
  const size_t count = input.producers.size();
  if (input.labels.size() != count ||
      (!input.anchors.empty() && input.anchors.size() != count) ||
      (!input.costs.empty() && input.costs.size() != count)) {
    return InvalidArgument(
        "a graph of ", count, " nodes has ", input.labels.size(), " labels, ",
        input.anchors.size(), " anchors and ", input.costs.size(), " costs");
  }
  for (size_t node = 0; node < count; ++node) {
    for (const size_t producer : input.producers[node]) {
      if (producer >= count) {
        return InvalidArgument("node ", node, " uses an output of node ",
                               producer, " of ", count);
      }
    }
  }
  return OkStatus();
}

// The state of a division.  Labels, anchors and costs are those of nodes.
class Partitioner {
 public:
  Partitioner(const PartitionInput& input, const PartitionLimits& limits,
              std::vector<size_t> order)
      : input_(input),
        limits_(limits),
        order_(std::move(order)),
        labels_(input.labels),
        groups_(input.producers, order_) {
    Reset();
  }

  std::vector<Part> Divide() {
    JoinAll(labels_, limits_);
    // Parts that were dissolved no longer stand between others.
    while (Dissolve()) JoinAll(labels_, limits_);
    return Sorted();
  }

 private:
  void Reset() {
    groups_ = PartGraph(input_.producers, order_);
    anchors_.assign(input_.anchors.begin(), input_.anchors.end());
    anchors_.resize(labels_.size());
  }

  void JoinAll(const std::vector<int>& labels, const PartitionLimits& limits) {
    bool changed = true;
    while (changed) {
      changed = false;
      for (const size_t node : order_) {
        if (labels[node] == kAlone) continue;
        for (const size_t producer : input_.producers[node]) {
          changed |= labels[producer] == labels[node] &&
                     TryJoin(producer, node, limits);
        }
      }
    }
  }

  bool TryJoin(size_t producer, size_t node, const PartitionLimits& limits) {
    const size_t from = groups_.Find(producer);
    const size_t to = groups_.Find(node);
    if (from == to) return false;
    const size_t size = groups_.size_of(from) + groups_.size_of(to);
    if (limits.max_ops != 0 && size > limits.max_ops) return false;
    const size_t anchors = anchors_[from] + anchors_[to];
    if (limits.max_anchors != 0 && anchors > limits.max_anchors) return false;
    if (!groups_.Join(from, to)) return false;
    anchors_[groups_.Find(from)] = anchors;
    return true;
  }

  // Nodes of each group in topological order; groups by their first nodes.
  std::vector<Part> Groups() {
    std::vector<Part> parts;
    std::vector<size_t> part_of(labels_.size(), labels_.size());
    for (const size_t node : order_) {
      size_t& part = part_of[groups_.Find(node)];
      if (part == labels_.size()) {
        part = parts.size();
        parts.push_back({.nodes = {}, .label = labels_[node]});
      }
      parts[part].nodes.push_back(node);
    }
    return parts;
  }

  // Leaves nodes of parts that limits forbid alone; false where there is none.
  bool Dissolve() {
    const std::vector<Part> parts = Groups();
    std::vector<bool> dissolved = TooSmall(parts);
    const auto any = [&dissolved] {
      return std::find(dissolved.begin(), dissolved.end(), true) !=
             dissolved.end();
    };
    if (!any()) dissolved = TooMany(parts);
    if (!any()) return false;
    std::vector<int> part_of(labels_.size(), kAlone);
    for (size_t i = 0; i < parts.size(); ++i) {
      for (const size_t node : parts[i].nodes) {
        if (dissolved[i]) {
          labels_[node] = kAlone;
        } else if (labels_[node] != kAlone) {
          part_of[node] = static_cast<int>(i);
        }
      }
    }
    Reset();
    JoinAll(part_of, PartitionLimits());
    return true;
  }

  std::vector<bool> TooSmall(const std::vector<Part>& parts) const {
    std::vector<bool> small(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      small[i] =
          parts[i].label != kAlone && parts[i].nodes.size() < limits_.min_ops;
    }
    return small;
  }

  std::vector<bool> TooMany(const std::vector<Part>& parts) const {
    std::vector<std::pair<double, size_t>> dearest;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].label == kAlone) continue;
      double cost = 0;
      for (const size_t node : parts[i].nodes) {
        cost += input_.costs.empty() ? 1 : input_.costs[node];
      }
      dearest.push_back({-cost, i});
    }
    std::vector<bool> dropped(parts.size());
    if (limits_.max_partitions == 0) return dropped;
    std::sort(dearest.begin(), dearest.end());
    for (size_t i = limits_.max_partitions; i < dearest.size(); ++i) {
      dropped[dearest[i].second] = true;
    }
    return dropped;
  }

  // Groups() are sorted by first nodes, which break ties.
  std::vector<Part> Sorted() {
    std::vector<Part> parts = Groups();
    std::vector<size_t> part_of(labels_.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      for (const size_t node : parts[i].nodes) part_of[node] = i;
    }
    Lists producers(parts.size());
    for (size_t node = 0; node < labels_.size(); ++node) {
      for (const size_t producer : input_.producers[node]) {
        if (part_of[producer] != part_of[node]) {
          producers[part_of[node]].push_back(part_of[producer]);
        }
      }
    }
    std::vector<Part> sorted;
    for (const size_t part : TopologicalOrder(producers)) {
      sorted.push_back(std::move(parts[part]));
    }
    return sorted;
  }

  const PartitionInput& input_;
  const PartitionLimits& limits_;
  const std::vector<size_t> order_;
  std::vector<int> labels_;
  std::vector<size_t> anchors_;  // by group
  PartGraph groups_;
};

}  // namespace

Result<std::vector<Part>> PartitionNodes(const PartitionInput& input,
                                         const PartitionLimits& limits) {
  TIM_RETURN_IF_ERROR(CheckLimits(limits));
  TIM_RETURN_IF_ERROR(CheckInput(input));
  std::vector<size_t> order = TopologicalOrder(input.producers);
  if (order.size() != input.producers.size()) {
    return InvalidArgument(
        "the graph has a cycle: ", input.producers.size() - order.size(),
        " of ", input.producers.size(),
        " nodes use what they or their users produce");
  }
  return Partitioner(input, limits, std::move(order)).Divide();
}

Result<std::vector<GraphPart>> PartitionGraph(
    const ir::Graph& graph, const std::function<int(const ir::Node&)>& label,
    const PartitionLimits& limits) {
  std::vector<ir::NodeId> ids;
  std::vector<size_t> numbers(static_cast<size_t>(graph.node_id_limit()));
  for (ir::NodeId id = 0; id < graph.node_id_limit(); ++id) {
    if (!graph.HasNode(id)) continue;
    numbers[static_cast<size_t>(id)] = ids.size();
    ids.push_back(id);
  }
  PartitionInput input;
  const ir::EffectChain effects(graph);
  for (const ir::NodeId id : ids) {
    const ir::Node& node = graph.node(id);
    std::vector<size_t> producers;
    const ir::NodeId before = effects.Before(id);
    if (before != ir::kNone) {
      producers.push_back(numbers[static_cast<size_t>(before)]);
    }
    for (const ir::ValueId value : node.inputs) {
      if (value == ir::kNone) continue;
      const ir::NodeId producer = graph.value(value).producer;
      if (producer == ir::kNone) continue;
      producers.push_back(numbers[static_cast<size_t>(producer)]);
    }
    input.producers.push_back(std::move(producers));
    input.labels.push_back(label(node));
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<Part> parts,
                       PartitionNodes(input, limits));
  std::vector<GraphPart> result;
  for (const Part& part : parts) {
    GraphPart& named = result.emplace_back();
    named.label = part.label;
    for (const size_t node : part.nodes) named.nodes.push_back(ids[node]);
  }
  return result;
}

}  // namespace tim::compiler
