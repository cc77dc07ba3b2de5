#include "binary/graph_body.h"

#include <map>
#include <utility>

namespace tim::binary {
namespace {

using Ids = std::map<ir::ValueId, ir::ValueId>;

// Values that something needs, and nodes; states become values of the role
// given.
Ids Copy(const ir::Graph& from, ir::Role states, ir::Graph* to) {
  Ids ids = {{ir::kNone, ir::kNone}};
  for (const ir::ValueId id : from.ValueIds()) {
    const ir::Value& value = from.value(id);
    if (value.role == ir::Role::kConstant && value.uses.empty() &&
        !from.IsLiveOut(id)) {
      continue;
    }
    const bool is_state = value.role == ir::Role::kState;
    const ir::Role role = is_state ? states : value.role;
    ids[id] = to->AddValue(value.desc, role, value.name);
    ir::Value& copy = to->value(ids[id]);
    copy.is_scalar = value.is_scalar;
    copy.shape_declared = value.shape_declared;
    if (role == value.role) copy.constant = value.constant;
  }
  for (const ir::NodeId id : from.NodeIds()) {
    ir::Node node = from.node(id);
    for (ir::ValueId& input : node.inputs) input = ids.at(input);
    for (ir::ValueId& output : node.outputs) output = ids.at(output);
    to->AddNode(std::move(node));
  }
  return ids;
}

}  // namespace

GraphBody AsBody(const ir::Graph& graph) {
  GraphBody body{.graph = ir::Graph(graph.name()), .states = {}};
  const Ids ids = Copy(graph, ir::Role::kInput, &body.graph);
  std::map<ir::ValueId, ir::ValueId> updates;
  for (const auto& update : graph.state_updates()) {
    updates[update.state] = update.value;
  }
  for (const ir::ValueId id : graph.inputs()) body.graph.AddInput(ids.at(id));
  for (const ir::ValueId id : graph.outputs()) body.graph.AddOutput(ids.at(id));
  for (const ir::ValueId id : graph.ValueIds()) {
    const ir::Value& state = graph.value(id);
    if (state.role != ir::Role::kState) continue;
    const auto update = updates.find(id);
    body.graph.AddInput(ids.at(id));
    if (update != updates.end()) body.graph.AddOutput(ids.at(update->second));
    body.states.push_back({.name = state.name,
                           .desc = state.desc,
                           .is_scalar = state.is_scalar,
                           .content = state.constant,
                           .written = update != updates.end()});
  }
  return body;
}

ir::Graph WithoutAbsent(const ir::Graph& graph) {
  ir::Graph out(graph.name());
  const Ids ids = Copy(graph, ir::Role::kState, &out);
  for (const ir::ValueId id : graph.inputs()) {
    if (id != ir::kNone) out.AddInput(ids.at(id));
  }
  for (const ir::ValueId id : graph.outputs()) {
    if (id != ir::kNone) out.AddOutput(ids.at(id));
  }
  for (const auto& update : graph.state_updates()) {
    out.AddStateUpdate(ids.at(update.state), ids.at(update.value));
  }
  return out;
}

}  // namespace tim::binary
