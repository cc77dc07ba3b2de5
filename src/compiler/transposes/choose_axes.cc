#include "compiler/transposes/choose_axes.h"

#include <deque>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/transposes/min_cut.h"
#include "ir/node_descs.h"

namespace tim::compiler {
namespace {

using ir::NodeId;
using ir::Permutation;
using ir::PermutedNode;
using ir::ValueId;

// Null: the node could not.
using Answer = std::shared_ptr<const PermutedNode>;

// The nodes' answers, each asked for once.
class Answers {
 public:
  Answers(const Nets& nets, const std::function<bool(const ir::Node&)>& stays)
      : nets_(nets), stays_(stays) {}

  /// The node where it gets `operand` in `order`; null where it cannot.
  Answer ByInput(NodeId id, int operand, const Permutation& order) {
    const ir::Node& node = nets_.graph().node(id);
    const ValueId value = node.inputs[operand];
    if (value == ir::kNone || stays_(node)) return nullptr;
    const Permutation& at_first = nets_.OrderOf(value);
    if (order.size() != at_first.size()) return nullptr;
    const Permutation perm = ir::Compose(ir::Inverse(at_first), order);
    const auto [entry, added] = known_.try_emplace({id, operand, perm});
    if (added) {
      const ir::NodeDescs descs(nets_.graph(), node);
      auto answer = ir::PermuteNode(descs.view(), operand, perm);
      if (answer.ok()) {
        entry->second =
            std::make_shared<const PermutedNode>(*std::move(answer));
      }
    }
    return entry->second;
  }

  /// The node where it makes output `index` in `order`.  Operators are asked
  /// from their inputs: one whose input has as many axes may pass them on.
  Answer ByOutput(NodeId id, int index, const Permutation& order) {
    const ir::Node& node = nets_.graph().node(id);
    const ValueId output = node.outputs[index];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId input = node.inputs[i];
      if (input == ir::kNone) continue;
      const Answer answer =
          ByInput(id, static_cast<int>(i), nets_.OrderBy(input, order));
      if (answer == nullptr) continue;
      if (nets_.OrderBy(output, answer->outputs[index]) == order) return answer;
    }
    return nullptr;
  }

  bool IsConstant(ValueId value) const {
    return nets_.graph().value(value).role == ir::Role::kConstant;
  }

 private:
  const Nets& nets_;
  const std::function<bool(const ir::Node&)>& stays_;
  std::map<std::tuple<NodeId, int, Permutation>, Answer> known_;
};

// Nets in an order that one of them might have, and the nodes that then could
// compute in other axes.
struct World {
  std::map<int, Permutation> orders;  ///< By net.
  PermutedNodes nodes;
};

class Chooser {
 public:
  Chooser(const Nets& nets, const std::function<bool(const ir::Node&)>& stays)
      : nets_(nets), answers_(nets, stays) {}

  PermutedNodes Run() {
    while (ImproveOnce()) {
    }
    return std::move(chosen_);
  }

 private:
  bool ImproveOnce() {
    bool improved = false;
    for (int net = 0; net < static_cast<int>(nets_.all().size()); ++net) {
      for (const Permutation& order : OrdersOf(nets_.all()[net])) {
        improved |= Try(net, order);
      }
    }
    return improved;
  }

  // Those in which a net that is transposed is driven and read.
  std::set<Permutation> OrdersOf(const Net& net) const {
    if (nets_.Cost(net, chosen_) == 0) return {};
    std::set<Permutation> orders = {nets_.Driven(net, chosen_)};
    for (const Sink& sink : net.sinks) {
      orders.insert(nets_.Wanted(sink, chosen_));
    }
    return orders;
  }

  bool Try(int net, const Permutation& order) {
    const World world = Grow(net, order);
    if (world.nodes.empty()) return false;
    const std::set<int> touched = Touched(world);
    const double before = CostOf(touched);
    PermutedNodes undo;
    for (const NodeId id : Cheapest(world)) {
      Answer& chosen = chosen_[id];
      undo.emplace(id, chosen);
      chosen = world.nodes.at(id);
    }
    if (CostOf(touched) < before) return true;
    for (const auto& [id, chosen] : undo) {
      if (chosen != nullptr) {
        chosen_[id] = chosen;
      } else {
        chosen_.erase(id);
      }
    }
    return false;
  }

  double CostOf(const std::set<int>& nets) const {
    double cost = 0;
    for (const int net : nets) cost += nets_.Cost(nets_.all()[net], chosen_);
    return cost;
  }

  std::set<int> Touched(const World& world) const {
    std::set<int> touched;
    for (const auto& [id, option] : world.nodes) {
      const ir::Node& node = nets_.graph().node(id);
      for (const auto* operands : {&node.inputs, &node.outputs}) {
        for (const ValueId value : *operands) {
          if (value != ir::kNone) touched.insert(nets_.NetOf(value));
        }
      }
    }
    return touched;
  }

  World Grow(int seed, const Permutation& order) {
    World world;
    world.orders.emplace(seed, order);
    std::deque<int> queue = {seed};
    while (!queue.empty()) {
      const int at = queue.front();
      queue.pop_front();
      const Net& net = nets_.all()[at];
      const Permutation wanted = world.orders.at(at);
      if (net.driver != ir::kNone && !world.nodes.contains(net.driver) &&
          nets_.Driven(net, chosen_) != wanted) {
        Add(net.driver, answers_.ByOutput(net.driver, net.output, wanted),
            &world, &queue);
      }
      for (const Sink& sink : net.sinks) {
        if (sink.node == ir::kNone || world.nodes.contains(sink.node) ||
            nets_.Wanted(sink, chosen_) == wanted) {
          continue;
        }
        Add(sink.node, answers_.ByInput(sink.node, sink.operand, wanted),
            &world, &queue);
      }
    }
    return world;
  }

  void Add(NodeId id, const Answer& option, World* world,
           std::deque<int>* queue) {
    if (option == nullptr) return;
    world->nodes.emplace(id, option);
    const ir::Node& node = nets_.graph().node(id);
    const auto follow = [&](const std::vector<ValueId>& operands,
                            const std::vector<Permutation>& permutations) {
      for (size_t i = 0; i < operands.size(); ++i) {
        if (operands[i] == ir::kNone || answers_.IsConstant(operands[i])) {
          continue;
        }
        const int net = nets_.NetOf(operands[i]);
        const bool added =
            world->orders
                .emplace(net, nets_.OrderBy(operands[i], permutations[i]))
                .second;
        if (added) queue->push_back(net);
      }
    };
    follow(node.inputs, option->inputs);
    follow(node.outputs, option->outputs);
  }

  // On the source's side are those that change.
  std::vector<NodeId> Cheapest(const World& world) const {
    MinCut cut;
    std::map<NodeId, int> vertices;
    for (const auto& [id, option] : world.nodes) {
      vertices.emplace(id, cut.AddVertex());
    }
    for (const auto& [at, order] : world.orders) {
      AddNet(nets_.all()[at], order, world, vertices, &cut);
    }
    const std::vector<bool> changes = cut.Solve();
    std::vector<NodeId> ids;
    for (const auto& [id, vertex] : vertices) {
      if (changes[vertex]) ids.push_back(id);
    }
    return ids;
  }

  // A net costs where its driver is on one side and any sink on the other.
  void AddNet(const Net& net, const Permutation& order, const World& world,
              const std::map<NodeId, int>& vertices, MinCut* cut) const {
    if (nets_.IsFreelyRead(net)) return;
    const double weight = nets_.Weight(net);
    const Permutation key = nets_.Key(net, order);
    const auto side = [&](NodeId node, const Permutation& now,
                          const Permutation& then) {
      const bool will = nets_.Key(net, then) == key;
      const auto vertex = vertices.find(node);
      if (vertex == vertices.end() || !will) {
        return nets_.Key(net, now) == key && will ? MinCut::kSource
                                                  : MinCut::kSink;
      }
      return nets_.Key(net, now) == key ? MinCut::kSource : vertex->second;
    };
    const int driver =
        nets_.IsFreelyDriven(net)
            ? cut->AddVertex()
            : side(net.driver, nets_.Driven(net, chosen_),
                   nets_.Driven(net, world.nodes.contains(net.driver)
                                         ? world.nodes
                                         : chosen_));
    const int all_in = cut->AddVertex();   // no sink is on the sink's side
    const int some_in = cut->AddVertex();  // some sink is on the source's
    cut->AddEdge(driver, all_in, weight);
    cut->AddEdge(some_in, driver, weight);
    for (const Sink& sink : net.sinks) {
      const int reader =
          side(sink.node, nets_.Wanted(sink, chosen_),
               nets_.Wanted(sink, world.nodes.contains(sink.node) ? world.nodes
                                                                  : chosen_));
      cut->AddEdge(all_in, reader, MinCut::kInfinite);
      cut->AddEdge(reader, some_in, MinCut::kInfinite);
    }
  }

  const Nets& nets_;
  Answers answers_;
  PermutedNodes chosen_;
};

}  // namespace

PermutedNodes ChooseAxes(const Nets& nets,
                         const std::function<bool(const ir::Node&)>& stays) {
  return Chooser(nets, stays).Run();
}

}  // namespace tim::compiler
