// Finds the composites that devices' own compilers take as they are.
#include "compiler/whole_composites.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compiler/effects.h"
#include "ir/op_schema.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;

// Compilations that change the choice for the composites of one operator.
constexpr int kMostTrials = 8;

bool Compiles(const ir::PartDef& def) { return def.compiles && def.claim; }

using Names = std::set<std::string>;

// The other choice for the composites of `names`.
WholeComposites Changed(WholeComposites whole, const Names& names) {
  const bool named = whole.names.contains(*names.begin());
  for (const std::string& name : names) {
    if (named) {
      whole.names.erase(name);
    } else {
      whole.names.insert(name);
    }
  }
  return whole;
}

Names KeysOf(const std::map<std::string, std::string>& kept) {
  Names names;
  for (const auto& [name, op] : kept) names.insert(name);
  return names;
}

// Names among them that may stay whole.
Names Among(const Names& known, const WholeComposites& whole) {
  Names names;
  for (const std::string& name : known) {
    if (whole.Has(name)) names.insert(name);
  }
  return names;
}

}  // namespace

bool MayBeInPart(const Graph& graph, const Node& node, int device) {
  if (node.device >= 0 && node.device != device) return false;
  return !HasEffects(node) && !HasControl(node) &&
         HasStaticOperands(graph, node);
}

bool MayStayWhole(const Graph& graph, const ir::OpRegistry& registry,
                  const CompileOptions& options) {
  if (options.policy.graph_parts == GraphParts::kOff) return false;
  const std::vector<NodeId> ids = graph.NodeIds();
  if (std::none_of(ids.begin(), ids.end(), [&](NodeId id) {
        return graph.node(id).composite != nullptr;
      })) {
    return false;
  }
  return std::any_of(options.devices.begin(), options.devices.end(),
                     [&](const ir::DeviceInfo& device) {
                       const auto parts = registry.Parts(device.kind);
                       return std::any_of(
                           parts.begin(), parts.end(),
                           [](const auto* def) { return Compiles(*def); });
                     });
}

std::set<NodeId> ClaimedComposites(const Module& module) {
  const Graph& graph = module.graph;
  std::set<NodeId> claimed;
  // An extent that is not known is told by a later pass.
  if (!CheckStaticShapes(graph).ok()) return claimed;
  for (int d = 1; d < static_cast<int>(module.options.devices.size()); ++d) {
    for (const ir::PartDef* def :
         module.registry.Parts(module.device(d).kind)) {
      if (!Compiles(*def)) continue;
      const auto claims = def->claim(graph, module.device(d));
      if (!claims.ok()) continue;  // ClaimParts tells of it
      for (const ir::PartClaim& claim : claims->claims) {
        for (const NodeId id : claim.nodes) {
          if (graph.HasNode(id) && graph.node(id).composite &&
              MayBeInPart(graph, graph.node(id), d)) {
            claimed.insert(id);
          }
        }
      }
    }
  }
  return claimed;
}

WholeComposites FindWhole(const TryWhole& try_whole, GraphParts graph_parts) {
  std::map<std::string, Names> by_op;  // operators with operands
  Names known;
  std::vector<WholeTrial> trials;
  WholeTrial best;
  for (WholeComposites next = {.all_but = true};;) {
    const WholeTrial trial = try_whole(next);
    trials.push_back(trial);
    if (trial.predicted_us <= best.predicted_us) best = trial;
    if (trial.kept.empty()) break;
    const bool runs = std::isfinite(trial.predicted_us);
    if (graph_parts == GraphParts::kPrefer && runs) return trial.whole;
    next = trial.whole;
    for (const auto& [name, op] : trial.kept) {
      by_op[op].insert(name);
      known.insert(name);
      next.names.insert(name);
    }
  }
  if (best.kept.empty()) best.whole = {};
  // Composites that a trial may keep, or did, make one graph.
  std::set<Names> tried;
  for (const WholeTrial& trial : trials) {
    tried.insert(Among(known, trial.whole));
    tried.insert(KeysOf(trial.kept));
  }
  int left = kMostTrials;
  for (const auto& [op, of_op] : by_op) {
    const WholeComposites changed = Changed(best.whole, of_op);
    if (!tried.insert(Among(known, changed)).second) continue;
    if (left-- == 0) break;
    const WholeTrial other = try_whole(changed);
    tried.insert(KeysOf(other.kept));
    if (other.predicted_us < best.predicted_us) best = other;
  }
  return best.whole;
}

double PredictedMicroseconds(const Module& module) {
  for (const ir::ComparedPlan& plan : module.compared) {
    if (plan.plan == module.chosen_division) return plan.predicted_us;
  }
  double sum = 0;
  for (const NodeId id : module.graph.NodeIds()) {
    sum += module.costs[static_cast<size_t>(id)];
  }
  return sum;
}

}  // namespace tim::compiler
