// The order of nodes whose effects are seen from outside (Effects::ordered).
#ifndef TIM_IR_EFFECT_ORDER_H_
#define TIM_IR_EFFECT_ORDER_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace tim::ir {

/// Whether evaluations of the node, or of one in its graphs, are seen from
/// outside in their order.
bool HasOrderedEffects(const Node& node);

/// The nodes with ordered effects in the order in which every run evaluates
/// them: that of their ids, which is that in which they were added, but for a
/// node that another one needs, which comes before it.
std::vector<NodeId> EffectOrder(const Graph& graph);

/// EffectOrder() as neighbours of nodes: edges beside those of values, with
/// which the graph has no cycle that it does not have without them.
class EffectChain {
 public:
  explicit EffectChain(const Graph& graph);

  /// The node with ordered effects right before this one, and right behind it;
  /// kNone where there is none, and for nodes without ordered effects.
  NodeId Before(NodeId id) const { return At(before_, id); }
  NodeId After(NodeId id) const { return At(after_, id); }

 private:
  static NodeId At(const std::vector<NodeId>& list, NodeId id) {
    return list.empty() ? kNone : list[static_cast<size_t>(id)];
  }

  std::vector<NodeId> before_, after_;  // by node; empty: there is no edge
};

/// Gives nodes new ids, those of nodes that are added, so that the ids along
/// `order` rise.  Gives the old and the new ones.
std::vector<std::pair<NodeId, NodeId>> SetEffectOrder(
    const std::vector<NodeId>& order, Graph* graph);

}  // namespace tim::ir

#endif  // TIM_IR_EFFECT_ORDER_H_
