// Takes edits of a graph over where they keep its interface.
#include "compiler/part_optimizer.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "compiler/compiler.h"
#include "ir/effect_order.h"
#include "ir/op_schema.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::ValueId;

Status CheckPort(const Graph& before, ValueId a, const Graph& after, ValueId b,
                 const char* what, size_t index) {
  if (a == ir::kNone || b == ir::kNone) {
    if (a == b) return OkStatus();
    return InvalidArgument(what, " ", index, " is there no more, or new");
  }
  const ir::TensorDesc& had = before.value(a).desc;
  const ir::TensorDesc& has = after.value(b).desc;
  if (had.type == has.type && had.shape == has.shape &&
      had.quantization == has.quantization) {
    return OkStatus();
  }
  return InvalidArgument(what, " ", index, " was ", had.ToString(), " and is ",
                         has.ToString());
}

Status CheckPorts(const Graph& before, const std::vector<ValueId>& had,
                  const Graph& after, const std::vector<ValueId>& has,
                  const char* what) {
  if (had.size() != has.size()) {
    return InvalidArgument("it has ", has.size(), " ", what, "s, and had ",
                           had.size());
  }
  for (size_t i = 0; i < had.size(); ++i) {
    TIM_RETURN_IF_ERROR(CheckPort(before, had[i], after, has[i], what, i));
  }
  return OkStatus();
}

// Operators whose evaluations are seen from outside, with their number.
std::map<std::string, int> EffectsOf(const Graph& graph) {
  std::map<std::string, int> effects;
  for (const ir::NodeId id : graph.NodeIds()) {
    const ir::Node& node = graph.node(id);
    if (node.schema == nullptr || node.composite) continue;
    const ir::Effects& of = node.schema->effects;
    if (of.random || of.ordered) ++effects[node.schema->Key()];
  }
  return effects;
}

// Whether nodes with ordered effects are in the order of those before:
// operators with their attributes, and nodes that were there by their names.
bool KeepsOrderOfEffects(const Graph& before, const Graph& after) {
  struct Order {
    std::vector<std::string> operators;
    std::vector<std::string> names;
  };
  const auto order_of = [](const Graph& graph) {
    Order order;
    for (const ir::NodeId id : ir::EffectOrder(graph)) {
      const ir::Node& node = graph.node(id);
      order.operators.push_back(StrCat(
          node.schema != nullptr ? node.schema->Key() : node.composite->name,
          " ", node.attributes.ToString()));
      order.names.push_back(node.name);
    }
    return order;
  };
  Order had = order_of(before);
  Order has = order_of(after);
  const std::set<std::string> old_names(had.names.begin(), had.names.end());
  const std::set<std::string> new_names(has.names.begin(), has.names.end());
  std::erase_if(had.names,
                [&](const auto& at) { return !new_names.contains(at); });
  std::erase_if(has.names,
                [&](const auto& at) { return !old_names.contains(at); });
  return had.operators == has.operators && had.names == has.names;
}

Status CheckInterface(const Graph& before, const Graph& after) {
  TIM_RETURN_IF_ERROR(after.CheckChains());
  if (before.inputs() != after.inputs()) {
    return InvalidArgument("its inputs are others");
  }
  TIM_RETURN_IF_ERROR(
      CheckPorts(before, before.outputs(), after, after.outputs(), "output"));
  if (before.state_updates().size() != after.state_updates().size()) {
    return InvalidArgument("it updates other states");
  }
  for (size_t i = 0; i < before.state_updates().size(); ++i) {
    const auto& had = before.state_updates()[i];
    const auto& has = after.state_updates()[i];
    if (had.state != has.state) return InvalidArgument("it has other states");
    TIM_RETURN_IF_ERROR(
        CheckPort(before, had.value, after, has.value, "state update", i));
  }
  if (EffectsOf(before) != EffectsOf(after)) {
    return InvalidArgument("it has other operators with effects");
  }
  if (KeepsOrderOfEffects(before, after)) return OkStatus();
  return InvalidArgument("its operators have their effects in another order");
}

// Types and extents of what was added, and the rules of all operators.
Result<Graph> Checked(const Module& module, const Graph& before, Graph after) {
  TIM_RETURN_IF_ERROR(InferGraph(&after, module.registry));
  TIM_RETURN_IF_ERROR(CheckInterface(before, after));
  return after;
}

// Nothing where the edits are dropped.
Result<std::optional<Graph>> Optimized(Module& module, const ir::PartDef& def,
                                       int device, const Graph& graph,
                                       int level) {
  const ir::DeviceInfo& info = module.device(device);
  auto edited = def.optimize(graph, level, info);
  if (edited.ok()) {
    edited = Checked(module, graph, *std::move(edited));
  }
  if (edited.ok()) return std::optional(*std::move(edited));
  const std::string reason =
      StrCat("edits of ", info.kind, " at level ", level,
             " are dropped: ", edited.status().message());
  if (module.options.strict) {
    return Status(edited.status().code(),
                  StrCat("graph ", graph.name(), ": ", reason));
  }
  if (!module.is_trial) {
    TIM_LOG(kWarning, "graph ", graph.name(), ": ", reason);
  }
  module.decisions.push_back(
      {.node = graph.name(), .chosen = "as it is", .refused = {reason}});
  return std::optional<Graph>();
}

}  // namespace

Status OptimizePart(Module& module, const ir::PartDef& def, int device,
                    ir::Node* part) {
  TIM_ASSIGN_OR_RETURN(
      std::optional<Graph> body,
      Optimized(module, def, device, part->composite->body, /*level=*/2));
  if (!body) return OkStatus();
  auto composite = std::make_shared<ir::Composite>(*part->composite);
  composite->body = *std::move(body);
  part->composite = std::move(composite);
  return OkStatus();
}

Status OptimizeWhole(Module& module, int level) {
  if (module.options.devices.size() != 2) return OkStatus();
  for (const ir::PartDef* def : module.registry.Parts(module.device(1).kind)) {
    if (!def->optimize) continue;
    TIM_ASSIGN_OR_RETURN(std::optional<Graph> graph,
                         Optimized(module, *def, 1, module.graph, level));
    if (graph) module.graph = *std::move(graph);
  }
  return OkStatus();
}

}  // namespace tim::compiler
