#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/offers.h"
#include "compiler/passes/passes.h"
#include "ir/effect_order.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;

// Cheapest estimate of a node of the graph, whose kernels are asked once;
// nothing for what is neither an operator nor a chain.
std::optional<double> BestCost(Module& module, ir::NodeId id, int on) {
  const ir::KernelNode view =
      ViewOf(module, module.graph, module.graph.node(id));
  if (view.anchor->composite) return std::nullopt;
  const auto [kept, is_new] = module.offers.try_emplace(id);
  if (is_new) kept->second = OffersOf(module, view, on);
  return LeastMicroseconds(module, view, kept->second);
}

// The node that may be fused into `id`: the only reader of its only output.
ir::NodeId NextInChain(const Graph& graph, ir::NodeId id) {
  const Node& node = graph.node(id);
  if (node.outputs.size() != 1 || node.outputs[0] == ir::kNone) {
    return ir::kNone;
  }
  const ir::Value& result = graph.value(node.outputs[0]);
  if (result.uses.size() != 1 || graph.IsLiveOut(result.id)) return ir::kNone;
  const Node& next = graph.node(result.uses[0].node);
  if (next.composite || next.outputs.size() != 1) return ir::kNone;
  // A fused node would have another place in the order of effects.
  if (ir::HasOrderedEffects(node) || ir::HasOrderedEffects(next)) {
    return ir::kNone;
  }
  return next.id;
}

// The composite that runs `id` (an operator or a fused chain) and then `next`.
class Fusion {
 public:
  Fusion(const Graph& graph, ir::NodeId id, ir::NodeId next)
      : graph_(graph), first_(graph.node(id)), next_(graph.node(next)) {
    fused_.name = first_.name + "+" + next_.name;
    fused_.inputs = first_.inputs;
    fused_.outputs = next_.outputs;
    composite_ = first_.composite
                     ? std::make_shared<ir::Composite>(*first_.composite)
                     : Begin();
    AddNext();
    composite_->name = StrCat("fused.", fused_.name);
    fused_.composite = composite_;
  }

  const Node& node() const { return fused_; }

 private:
  ir::ValueId AddInput(ir::ValueId outer) {
    const ir::ValueId id = composite_->body.AddValue(
        graph_.value(outer).desc, ir::Role::kInput, graph_.value(outer).name);
    composite_->body.AddInput(id);
    return id;
  }

  std::shared_ptr<ir::Composite> Begin() {
    composite_ = std::make_shared<ir::Composite>();
    Node anchor = first_;
    for (ir::ValueId& input : anchor.inputs) {
      if (input == ir::kNone) {
        composite_->body.AddInput(ir::kNone);
      } else {
        input = AddInput(input);
      }
    }
    const ir::Value& result = graph_.value(first_.outputs[0]);
    anchor.outputs = {composite_->body.AddValue(
        result.desc, ir::Role::kTransient, result.name)};
    composite_->body.AddOutput(anchor.outputs[0]);
    composite_->anchor = composite_->body.AddNode(std::move(anchor));
    return composite_;
  }

  void AddNext() {
    Graph& body = composite_->body;
    const ir::ValueId running = body.outputs()[0];
    Node copy = next_;
    for (ir::ValueId& input : copy.inputs) {
      if (input == ir::kNone) continue;
      if (input == first_.outputs[0]) {
        input = running;
      } else {
        fused_.inputs.push_back(input);
        input = AddInput(input);
      }
    }
    const ir::Value& result = graph_.value(next_.outputs[0]);
    copy.outputs = {
        body.AddValue(result.desc, ir::Role::kTransient, result.name)};
    const ir::ValueId output = copy.outputs[0];
    body.AddNode(std::move(copy));
    body.SetGraphOutput(0, output);
  }

  const Graph& graph_;
  const Node& first_;
  const Node& next_;
  Node fused_;
  std::shared_ptr<ir::Composite> composite_;
};

// A fusion that does not cost more than its parts.
struct Proposal {
  ir::NodeId first = ir::kNone;
  ir::NodeId next = ir::kNone;
  Node fused;
  NodeOffers offers;
  double gain = 0;  ///< Microseconds.
};

// Makes chains of nodes, each fused with the only reader of its result.
class Fuser {
 public:
  explicit Fuser(Module& module) : module_(module), graph_(module.graph) {}

  // Nodes are visited in topological order.
  void Visit(ir::NodeId id) {
    if (IsJoin(id)) {
      JoinBest(ChainsBefore(id), id);
    } else {
      Extend(id, position_);
    }
    ++position_;
  }

 private:
  // The node that may be fused into `id` here; kNone: there is none.
  ir::NodeId NextOf(ir::NodeId id) {
    const ir::NodeId next = NextInChain(graph_, id);
    if (next == ir::kNone || IsPinned(module_, id) || IsPinned(module_, next) ||
        !IsStatic(id) || !IsStatic(next)) {
      return ir::kNone;
    }
    return next;
  }

  bool IsStatic(ir::NodeId id) {
    const auto [known, is_new] = static_.try_emplace(id);
    if (is_new) known->second = HasStaticOperands(graph_, graph_.node(id));
    return known->second;
  }

  // Whether several chains end before `id`; fusions before it change nothing.
  bool IsJoin(ir::NodeId id) {
    const auto [known, is_new] = joins_.try_emplace(id);
    if (is_new) known->second = ChainsBefore(id).size() > 1;
    return known->second;
  }

  // Nodes that `id` may be fused into: of a sum, all that make its operands.
  std::vector<ir::NodeId> ChainsBefore(ir::NodeId id) {
    std::vector<ir::NodeId> ends;
    for (const ir::ValueId input : graph_.node(id).inputs) {
      if (input == ir::kNone) continue;
      const ir::NodeId maker = graph_.value(input).producer;
      if (maker != ir::kNone && NextOf(maker) == id &&
          std::find(ends.begin(), ends.end(), maker) == ends.end()) {
        ends.push_back(maker);
      }
    }
    return ends;
  }

  // Fuses what follows into `id`, whose chain began at position `head`, up to
  // where several chains meet.
  void Extend(ir::NodeId id, int head) {
    while (true) {
      heads_[id] = head;
      const ir::NodeId next = NextOf(id);
      if (next == ir::kNone || IsJoin(next)) return;
      std::optional<Proposal> proposal = Propose(id, next);
      if (!proposal) return;
      id = Commit(*std::move(proposal));
    }
  }

  // Fuses `id` into the chain that gains most by it, of equal ones into the one
  // that began first.
  void JoinBest(const std::vector<ir::NodeId>& ends, ir::NodeId id) {
    std::optional<Proposal> best;
    for (const ir::NodeId end : ends) {
      std::optional<Proposal> one = Propose(end, id);
      if (!one) continue;
      const bool better =
          !best || one->gain > best->gain ||
          (one->gain == best->gain && heads_[end] < heads_[best->first]);
      if (better) best = std::move(one);
    }
    if (!best) return Extend(id, position_);
    const int head = heads_[best->first];
    Extend(Commit(*std::move(best)), head);
  }

  std::optional<Proposal> Propose(ir::NodeId id, ir::NodeId next) {
    const int on = module_.DeviceOf(graph_.node(id));
    if (on != module_.DeviceOf(graph_.node(next))) return std::nullopt;
    const auto first_cost = BestCost(module_, id, on);
    const auto next_cost = BestCost(module_, next, on);
    if (!first_cost || !next_cost) return std::nullopt;
    const Fusion fusion(graph_, id, next);
    const ir::KernelNode view = ViewOf(module_, graph_, fusion.node());
    NodeOffers offers = OffersOf(module_, view, on);
    const auto cost = LeastMicroseconds(module_, view, offers);
    if (!cost || *cost > *first_cost + *next_cost) return std::nullopt;
    return Proposal{.first = id,
                    .next = next,
                    .fused = fusion.node(),
                    .offers = std::move(offers),
                    .gain = *first_cost + *next_cost - *cost};
  }

  // Puts the fused node in the place of both; returns it.
  ir::NodeId Commit(Proposal proposal) {
    const int on = module_.DeviceOf(graph_.node(proposal.first));
    for (const ir::NodeId id : {proposal.next, proposal.first}) {
      graph_.RemoveNode(id);
      module_.offers.erase(id);
    }
    const ir::NodeId made = graph_.AddNode(std::move(proposal.fused));
    module_.Assign(made, on);
    module_.offers[made] = std::move(proposal.offers);
    return made;
  }

  Module& module_;
  Graph& graph_;
  int position_ = 0;                 // of the node that is visited
  std::map<ir::NodeId, int> heads_;  // of chains by their last nodes
  std::map<ir::NodeId, bool> static_;
  std::map<ir::NodeId, bool> joins_;
};

}  // namespace

Status Fuse(Module& module) {
  if (module.options.devices.size() < 2) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                       module.graph.TopologicalOrder());
  Fuser fuser(module);
  for (const ir::NodeId id : order) {
    if (module.graph.HasNode(id)) fuser.Visit(id);
  }
  return OkStatus();
}

}  // namespace tim::compiler
