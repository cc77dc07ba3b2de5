#include <optional>
#include <utility>

#include "compiler/candidates.h"
#include "compiler/passes/passes.h"
#include "ir/effect_order.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;

// What kernels say of an operator or a chain, on a device, -1: on all but the
// host.
NodeOffers AskKernels(const Module& module, const ir::KernelNode& view,
                      int on) {
  NodeOffers offers;
  for (int d = 1; d < static_cast<int>(module.options.devices.size()); ++d) {
    if (on < 0 || on == d) offers[d] = OffersOn(module, view, d);
  }
  return offers;
}

// Cheapest estimate; nothing where no kernel takes the node.
std::optional<double> BestCost(const Module& module, const ir::KernelNode& view,
                               const NodeOffers& offers) {
  std::optional<double> best;
  for (const auto& [device, list] : offers) {
    const auto cost = LeastMicroseconds(list, view, module.device(device));
    if (cost && (!best || *cost < *best)) best = cost;
  }
  return best;
}

// The same of a node of the graph, whose kernels are asked once; nothing for
// what is neither an operator nor a chain.
std::optional<double> BestCost(Module& module, ir::NodeId id, int on) {
  const ir::KernelNode view =
      ViewOf(module, module.graph, module.graph.node(id));
  if (view.anchor->composite) return std::nullopt;
  const auto [kept, is_new] = module.offers.try_emplace(id);
  if (is_new) kept->second = AskKernels(module, view, on);
  return BestCost(module, view, kept->second);
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

// Replaces `id` and `next` by their fusion where a kernel takes it and it does
// not cost more; returns the new node.
std::optional<ir::NodeId> TryFuse(Module& module, ir::NodeId id,
                                  ir::NodeId next) {
  Graph& graph = module.graph;
  const int on = module.DeviceOf(graph.node(id));
  if (on != module.DeviceOf(graph.node(next))) return std::nullopt;
  const auto first_cost = BestCost(module, id, on);
  const auto next_cost = BestCost(module, next, on);
  if (!first_cost || !next_cost) return std::nullopt;
  const Fusion fusion(graph, id, next);
  const ir::KernelNode view = ViewOf(module, graph, fusion.node());
  NodeOffers offers = AskKernels(module, view, on);
  const auto cost = BestCost(module, view, offers);
  if (!cost || *cost > *first_cost + *next_cost) return std::nullopt;
  Node fused = fusion.node();
  graph.RemoveNode(next);
  graph.RemoveNode(id);
  const ir::NodeId made = graph.AddNode(std::move(fused));
  module.Assign(made, on);
  module.offers.erase(id);
  module.offers.erase(next);
  module.offers[made] = std::move(offers);
  return made;
}

}  // namespace

Status Fuse(Module& module) {
  Graph& graph = module.graph;
  if (module.options.devices.size() < 2) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                       graph.TopologicalOrder());
  for (const ir::NodeId first : order) {
    if (!graph.HasNode(first)) continue;
    std::optional<ir::NodeId> current = first;
    while (current && HasStaticOperands(graph, graph.node(*current))) {
      const ir::NodeId next = NextInChain(graph, *current);
      if (next == ir::kNone || IsPinned(module, *current) ||
          IsPinned(module, next) ||
          !HasStaticOperands(graph, graph.node(next))) {
        break;
      }
      current = TryFuse(module, *current, next);
    }
  }
  return OkStatus();
}

}  // namespace tim::compiler
