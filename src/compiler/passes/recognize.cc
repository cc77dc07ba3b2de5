// Operators that clients spelled out in smaller ones become one.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/offers.h"
#include "compiler/passes/passes.h"
#include "ir/inferred_node.h"
#include "ir/pattern.h"
#include "ir/rewrite_rule.h"

namespace tim::compiler {
namespace {

using ir::NodeId;
using ir::Pattern;
using ir::PatternMatch;
using ir::ValueId;

std::string NameOf(const ir::OpSchema& schema) {
  return StrCat(schema.domain, ".", schema.name);
}

// Operators of the graph by their names without versions.
std::set<std::string> OperatorsOf(const ir::Graph& graph) {
  std::set<std::string> out;
  for (const NodeId id : graph.NodeIds()) {
    const ir::OpSchema* schema = graph.node(id).schema;
    if (schema != nullptr) out.insert(NameOf(*schema));
  }
  return out;
}

// False where the graph has not even the operators of the pattern.
bool MayOccur(const Pattern& pattern, const std::set<std::string>& operators) {
  const auto may_occur = [&](const Pattern& part) {
    return MayOccur(part, operators);
  };
  const auto& parts = pattern.inputs;
  switch (pattern.kind) {
    case Pattern::Kind::kOp:
      return operators.contains(pattern.op) &&
             std::all_of(parts.begin(), parts.end(), may_occur);
    case Pattern::Kind::kOneOf:
      return std::any_of(parts.begin(), parts.end(), may_occur);
    default:
      return true;
  }
}

class Recognizer {
 public:
  explicit Recognizer(Module& module) : module_(module) {}

  Status Apply(const ir::RewriteRule& rule) {
    Pattern pattern = rule.pattern;
    const auto where = pattern.where;
    pattern.where = [&](const PatternMatch& match) {
      return (!where || where(match)) && AreTogether(match) &&
             RunsWhereTheyDo(rule.op, match);
    };
    std::map<NodeId, std::string> made;
    const auto replace = [&](const PatternMatch& match,
                             ir::Graph* graph) -> Result<std::vector<ValueId>> {
      ir::NewNode added = rule.node(match);
      added.name = NamesOf(match);
      const auto id =
          AddInferredNode(std::move(added), module_.registry, graph);
      // A match that the operator does not take stays as it is.
      if (!id.ok() || !Pays(match, *id, *graph)) return std::vector<ValueId>();
      graph->node(*id).device = graph->node(match.root).device;
      made[*id] = graph->node(*id).name;
      return graph->node(*id).outputs;
    };
    TIM_RETURN_IF_ERROR(
        ReplaceMatches(pattern, replace, 1, &module_.graph).status());
    for (const NodeId id : module_.graph.NodeIds()) {
      const auto found = made.find(id);
      if (found == made.end()) continue;
      module_.decisions.push_back({.node = found->second,
                                   .chosen = StrCat("recognized: ", rule.name),
                                   .refused = {}});
    }
    return OkStatus();
  }

 private:
  // The names of all nodes, that of the root last, as those of fused nodes.
  static std::string NamesOf(const PatternMatch& match) {
    std::vector<std::string> names;
    for (const NodeId id : match.nodes) {
      names.push_back(match.graph->node(id).name);
    }
    std::reverse(names.begin(), names.end());
    return StrJoin(names, "+");
  }

  // Nodes that are wanted on one device, or on any.
  static bool AreTogether(const PatternMatch& match) {
    const ir::Graph& graph = *match.graph;
    return std::all_of(match.nodes.begin(), match.nodes.end(), [&](NodeId id) {
      return graph.node(id).device == graph.node(match.root).device;
    });
  }

  // True where each kind of device with kernels for all nodes has one for the
  // operator.
  bool RunsWhereTheyDo(const std::string& op, const PatternMatch& match) const {
    const auto& devices = module_.options.devices;
    return std::all_of(
        devices.begin(), devices.end(), [&](const ir::DeviceInfo& device) {
          const auto has_kernel = [&](const std::string& name) {
            return !module_.registry.Kernels(name, device.kind).empty();
          };
          return has_kernel(op) ||
                 !std::all_of(
                     match.nodes.begin(), match.nodes.end(), [&](NodeId id) {
                       return has_kernel(NameOf(*match.graph->node(id).schema));
                     });
        });
  }

  // True where no device with kernels for all nodes takes longer for `added`.
  bool Pays(const PatternMatch& match, NodeId added,
            const ir::Graph& graph) const {
    const auto& nodes = match.nodes;
    if (!std::all_of(nodes.begin(), nodes.end(), [&](NodeId id) {
          return HasStaticOperands(graph, graph.node(id));
        })) {
      return true;
    }
    const auto cost = [&](NodeId id, int device) {
      return KernelMicroseconds(module_, ViewOf(module_, graph, graph.node(id)),
                                device);
    };
    const int pinned = graph.node(match.root).device;
    for (int d = 1; d < static_cast<int>(module_.options.devices.size()); ++d) {
      if (pinned >= 0 && pinned != d) continue;
      std::optional<double> apart = 0;
      for (const NodeId id : nodes) {
        const std::optional<double> one = apart ? cost(id, d) : std::nullopt;
        apart = one ? std::optional(*apart + *one) : std::nullopt;
      }
      const std::optional<double> together = cost(added, d);
      if (apart && (!together || *together > *apart)) return false;
    }
    return true;
  }

  Module& module_;
};

}  // namespace

Status Recognize(Module& module) {
  for (const ir::DeviceInfo& device : module.options.devices) {
    // A device's own compiler knows what it takes.
    if (!module.registry.Parts(device.kind).empty()) return OkStatus();
  }
  std::set<std::string> operators = OperatorsOf(module.graph);
  Recognizer recognizer(module);
  for (const ir::RewriteRule* rule : module.registry.Rules()) {
    if (!MayOccur(rule->pattern, operators)) continue;
    TIM_RETURN_IF_ERROR(recognizer.Apply(*rule));
    operators = OperatorsOf(module.graph);
  }
  return OkStatus();
}

}  // namespace tim::compiler
