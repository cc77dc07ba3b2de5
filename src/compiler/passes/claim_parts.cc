// Parts of a graph that a device compiles by itself become single nodes.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/log.h"
#include "compiler/candidates.h"
#include "compiler/offers.h"
#include "compiler/part_optimizer.h"
#include "compiler/partitioner.h"
#include "compiler/passes/passes.h"
#include "compiler/whole_composites.h"
#include "ir/node_descs.h"
#include "ir/part_names.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

// A claim that keeps the rules of parts.
struct LegalClaim {
  std::vector<NodeId> nodes;
  const ir::PartClaim* claim = nullptr;
  double microseconds = 0;  ///< Of these nodes, of which the claim has more.
};

// Microseconds that a claim saves; nothing where some node has no kernel.
std::optional<double> GainOf(const Module& module, const ir::PartClaim& claim) {
  double alone = 0;
  for (const NodeId id : claim.nodes) {
    const std::optional<double> cost = KernelMicroseconds(
        module, ViewOf(module, module.graph, module.graph.node(id)), -1);
    if (!cost) return std::nullopt;
    alone += *cost;
  }
  return alone - claim.microseconds;
}

double EstimatedMicroseconds(const Module& module,
                             const std::vector<NodeId>& nodes, int device) {
  double sum = 0;
  for (const NodeId id : nodes) {
    if (!module.graph.HasNode(id)) continue;
    sum += ir::EstimateMicroseconds(
        ir::EstimateOf(module.graph, module.graph.node(id)),
        module.device(device), 1);
  }
  return sum;
}

// The share of the claim's time that these of its nodes have, by what the
// library estimates of them.
double ShareOf(const Module& module, const ir::PartClaim& claim,
               const std::vector<NodeId>& nodes, int device) {
  if (nodes.size() >= claim.nodes.size()) return claim.microseconds;
  const double all = EstimatedMicroseconds(module, claim.nodes, device);
  if (!(all > 0)) return claim.microseconds;
  return claim.microseconds * EstimatedMicroseconds(module, nodes, device) /
         all;
}

// Each node belongs to the claim that saves most of those that want it.
Result<std::vector<LegalClaim>> Legal(const Module& module,
                                      const ir::PartDef& def,
                                      const ir::PartClaims& claims,
                                      int device) {
  std::vector<std::pair<double, int>> order;
  for (int i = 0; i < static_cast<int>(claims.claims.size()); ++i) {
    const std::optional<double> gain = GainOf(module, claims.claims[i]);
    const bool is_wanted =
        module.options.policy.graph_parts == GraphParts::kPrefer;
    if (gain && *gain <= 0 && !is_wanted) continue;
    order.emplace_back(gain.value_or(kHostStepPenalty), i);
  }
  std::stable_sort(
      order.begin(), order.end(),
      [](const auto& a, const auto& b) { return a.first > b.first; });
  std::map<NodeId, int> labels;
  for (const auto& [gain, index] : order) {
    for (const NodeId id : claims.claims[index].nodes) {
      if (!module.graph.HasNode(id)) continue;
      if (!MayBeInPart(module.graph, module.graph.node(id), device)) continue;
      labels.emplace(id, index);
    }
  }
  const auto label = [&](const Node& node) {
    const auto found = labels.find(node.id);
    return found == labels.end() ? kAlone : found->second;
  };
  TIM_ASSIGN_OR_RETURN(
      const std::vector<GraphPart> parts,
      PartitionGraph(module.graph, label,
                     {.min_ops = static_cast<size_t>(def.min_nodes)}));
  std::vector<LegalClaim> legal;
  for (const GraphPart& part : parts) {
    if (part.label == kAlone) continue;
    const ir::PartClaim& claim = claims.claims[part.label];
    legal.push_back(
        {part.nodes, &claim, ShareOf(module, claim, part.nodes, device)});
  }
  return legal;
}

// Constants of the body of a composite.
struct InBody {
  const Graph& body;
  auto operator()(ValueId id) const { return body.value(id).constant; }
};

// The composite of a claim: constants that it holds are in it, all other
// values from outside are its inputs.
class PartBuilder {
 public:
  PartBuilder(const Graph& graph, const LegalClaim& legal)
      : graph_(graph),
        nodes_(legal.nodes.begin(), legal.nodes.end()),
        held_(legal.claim->constants.begin(), legal.claim->constants.end()) {}

  Node Build(const std::vector<NodeId>& order, std::string name,
             std::string composite_name) {
    part_.name = std::move(name);
    auto composite = std::make_shared<ir::Composite>();
    composite->name = std::move(composite_name);
    body_ = &composite->body;
    *body_ = Graph(part_.name);
    for (const NodeId id : order) AddNode(graph_.node(id));
    part_.composite = std::move(composite);
    return std::move(part_);
  }

 private:
  void AddNode(const Node& node) {
    Node copy = node;
    for (ValueId& input : copy.inputs) {
      if (input != ir::kNone) input = Inner(input);
    }
    for (ValueId& output : copy.outputs) {
      if (output == ir::kNone) continue;
      const ValueId outer = output;
      output = AddValue(outer, ir::Role::kTransient);
      if (!IsSeenOutside(outer)) continue;
      body_->AddOutput(output);
      part_.outputs.push_back(outer);
    }
    if (node.composite) {
      copy.composite = WithConstants(node, [&](ValueId outer) {
        using Constant = decltype(ir::Value::constant);
        return held_.contains(outer) ? graph_.value(outer).constant
                                     : Constant();
      });
    }
    copy.device = -1;
    body_->AddNode(std::move(copy));
  }

  // The composite, whose body, and those in it, know the constants that
  // `constant_of(input)` gives, and no others of their inputs.
  template <typename ConstantOf>
  static std::shared_ptr<const ir::Composite> WithConstants(
      const Node& node, const ConstantOf& constant_of) {
    auto composite = std::make_shared<ir::Composite>(*node.composite);
    Graph& body = composite->body;
    for (size_t i = 0; i < body.inputs().size(); ++i) {
      if (body.inputs()[i] == ir::kNone) continue;
      const ValueId outer = node.inputs[i];
      body.value(body.inputs()[i]).constant =
          outer == ir::kNone ? nullptr : constant_of(outer);
    }
    const InBody in_body{body};
    for (const NodeId id : body.NodeIds()) {
      Node& inner = body.node(id);
      if (inner.composite) inner.composite = WithConstants(inner, in_body);
    }
    return composite;
  }

  ValueId AddValue(ValueId outer, ir::Role role) {
    const ir::Value& value = graph_.value(outer);
    const ValueId id = body_->AddValue(value.desc, role, value.name);
    body_->value(id).is_scalar = value.is_scalar;
    body_->value(id).shape_declared = role == ir::Role::kInput;
    return inner_[outer] = id;
  }

  ValueId Inner(ValueId outer) {
    const auto found = inner_.find(outer);
    if (found != inner_.end()) return found->second;
    const ir::Value& value = graph_.value(outer);
    if (value.constant != nullptr && held_.contains(outer)) {
      const ValueId id =
          body_->AddConstant(value.desc, value.constant, value.name);
      body_->value(id).is_scalar = value.is_scalar;
      return inner_[outer] = id;
    }
    const ValueId id = AddValue(outer, ir::Role::kInput);
    body_->AddInput(id);
    part_.inputs.push_back(outer);
    return id;
  }

  bool IsSeenOutside(ValueId outer) const {
    if (graph_.IsLiveOut(outer)) return true;
    const auto& uses = graph_.value(outer).uses;
    return std::any_of(uses.begin(), uses.end(), [&](const ir::Use& use) {
      return !nodes_.contains(use.node);
    });
  }

  const Graph& graph_;
  const std::set<NodeId> nodes_;
  const std::set<ValueId> held_;
  Node part_;
  Graph* body_ = nullptr;
  std::map<ValueId, ValueId> inner_;
};

bool HasComposites(const Graph& graph, const LegalClaim& legal) {
  return std::any_of(legal.nodes.begin(), legal.nodes.end(), [&](NodeId id) {
    return graph.node(id).composite != nullptr;
  });
}

// Parts are numbered, but not where there are composites or were refused ones:
// what is opened changes the numbers, and a name must go on to mean its nodes.
bool AreNumbered(const Module& module, const std::vector<LegalClaim>& legal,
                 int device) {
  const auto& refused = module.options.refused;
  return std::none_of(legal.begin(), legal.end(),
                      [&](const LegalClaim& claim) {
                        return HasComposites(module.graph, claim);
                      }) &&
         std::none_of(
             refused.begin(), refused.end(), [&](const RefusedKernel& one) {
               return one.device == device && ir::IsPartKernel(one.kernel) &&
                      one.node.find('#') != std::string::npos;
             });
}

// "part.acme.#" and a hash of the names of the nodes.
std::string NameByNodes(const Graph& graph, const LegalClaim& legal,
                        const std::string& kind) {
  std::set<std::string> names;
  for (const NodeId id : legal.nodes) names.insert(graph.node(id).name);
  std::string text;
  for (const std::string& name : names) text += StrCat(name, "\n");
  return StrCat(ir::kPartPrefix, kind, ".#",
                HashText(text).ToString().substr(0, 12));
}

// A part that could not be prepared stays divided.
bool IsRefused(const Module& module, int device, const std::string& node) {
  const std::string kernel =
      StrCat(module.device(device).kind, ir::kPartKernel);
  const auto& refused = module.options.refused;
  return std::any_of(refused.begin(), refused.end(),
                     [&](const RefusedKernel& one) {
                       return one.device == device && one.kernel == kernel &&
                              (one.node.empty() || one.node == node);
                     });
}

Status Take(Module& module, const ir::PartDef& def, const LegalClaim& legal,
            int device, const std::string& name) {
  Graph& graph = module.graph;
  TIM_ASSIGN_OR_RETURN(const auto order, graph.TopologicalOrder());
  const std::set<NodeId> members(legal.nodes.begin(), legal.nodes.end());
  std::vector<NodeId> sorted;
  std::copy_if(order.begin(), order.end(), std::back_inserter(sorted),
               [&](NodeId id) { return members.contains(id); });
  const std::string kind = module.device(device).kind;
  Node part = PartBuilder(graph, legal)
                  .Build(sorted, name, StrCat(ir::kPartPrefix, kind));
  part.device = device;
  part.attributes.Set(ir::kPartMicroseconds, legal.microseconds);
  if (def.optimize) {
    TIM_RETURN_IF_ERROR(OptimizePart(module, def, device, &part));
  }
  for (const NodeId id : sorted) graph.RemoveNode(id);
  graph.AddNode(std::move(part));
  return OkStatus();
}

Status ClaimFor(Module& module, const ir::PartDef& def, int device) {
  const std::string kind = module.device(device).kind;
  const auto claims = def.claim(module.graph, module.device(device));
  if (!claims.ok()) {
    if (module.is_trial) return OkStatus();
    TIM_LOG(kWarning, "graph ", module.graph.name(), ": ", kind,
            " takes no parts of it: ", claims.status().message());
    return OkStatus();
  }
  for (const auto& [id, reason] : claims->refused) {
    module.not_claimed[id].push_back(StrCat(kind, ":", def.name, ": ", reason));
  }
  if (!def.compiles) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const std::vector<LegalClaim> legal,
                       Legal(module, def, *claims, device));
  const bool numbered = AreNumbered(module, legal, device);
  std::vector<std::string> names;
  for (const LegalClaim& claim : legal) {
    names.push_back(numbered ? StrCat(ir::kPartPrefix, kind, ".", names.size())
                             : NameByNodes(module.graph, claim, kind));
  }
  size_t number = 0;
  for (const LegalClaim& claim : legal) {
    const std::string name = names[number++];
    if (IsRefused(module, device, name)) continue;
    TIM_RETURN_IF_ERROR(Take(module, def, claim, device, name));
  }
  return OkStatus();
}

}  // namespace

Status ClaimParts(Module& module) {
  TIM_RETURN_IF_ERROR(OptimizeWhole(module, 2));
  if (module.options.policy.graph_parts == GraphParts::kOff) return OkStatus();
  for (int d = 1; d < static_cast<int>(module.options.devices.size()); ++d) {
    for (const ir::PartDef* def :
         module.registry.Parts(module.device(d).kind)) {
      if (def->claim) TIM_RETURN_IF_ERROR(ClaimFor(module, *def, d));
    }
  }
  return OkStatus();
}

}  // namespace tim::compiler
