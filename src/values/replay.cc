// Runs or records the nodes of a graph as if its user had called them.
#include "values/replay.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <variant>

#include "ir/control.h"
#include "values/access.h"
#include "values/control_graphs.h"
#include "values/forward.h"
#include "values/holder_node.h"

namespace tim::values::internal {
namespace {

using CallNode = std::function<Outputs(const std::shared_ptr<const NodeState>&,
                                       const std::vector<Value>&)>;

Result<std::vector<Value>> ReplayBy(const ir::Graph& graph,
                                    const std::vector<Value>& inputs,
                                    const OwnSchemas& own,
                                    const CallNode& call) {
  std::vector<Value> values(static_cast<size_t>(graph.value_id_limit()));
  const auto at = [&](ir::ValueId id) -> Value& {
    return values[static_cast<size_t>(id)];
  };
  for (const ir::ValueId id : graph.ValueIds()) {
    const ir::Value& value = graph.value(id);
    if (value.role != ir::Role::kConstant) continue;
    at(id) = MakeValue(
        ValueState::Constant({value.desc, value.is_scalar}, value.constant));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    at(graph.inputs()[i]) = inputs[i];
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                       graph.TopologicalOrder());
  for (const ir::NodeId id : order) {
    const ir::Node& node = graph.node(id);
    std::vector<Value> operands;
    for (const ir::ValueId input : node.inputs) {
      operands.push_back(input == ir::kNone ? Value() : at(input));
    }
    const auto called = NodeOf(graph, node, own);
    size_t count = node.outputs.size();
    // Order is kept by whoever makes the calls.
    if (called->ordered) {
      at(node.outputs[--count]) = std::move(operands.back());
      operands.pop_back();
    }
    const Outputs outputs = call(called, operands);
    if (!outputs.ok()) return InvalidArgument(outputs.error());
    for (size_t i = 0; i < count; ++i) {
      if (node.outputs[i] != ir::kNone) at(node.outputs[i]) = outputs[i];
    }
  }
  std::vector<Value> out;
  for (const ir::ValueId id : graph.outputs()) out.push_back(at(id));
  return out;
}

}  // namespace

// A composite that an operator consists of is made of it again.
std::shared_ptr<const NodeState> NodeOf(const ir::Graph& graph,
                                        const ir::Node& node,
                                        const OwnSchemas& own) {
  auto made = std::make_shared<NodeState>();
  made->schema = node.schema;
  if (node.schema == nullptr) made->composite = node.composite;
  made->op = node.schema != nullptr
                 ? StrCat(node.schema->domain, ".", node.schema->name)
                 : node.composite->name;
  made->attributes = node.attributes;
  for (const ir::ValueId id : node.outputs) {
    ir::TensorDesc& desc = made->outputs.emplace_back();
    if (id == ir::kNone) continue;
    const ir::Value& value = graph.value(id);
    desc.type = value.desc.type;
    desc.quantization = value.desc.quantization;
    if (value.shape_declared) desc.shape = value.desc.shape;
  }
  made->own = own;
  made->ordered = !own.empty() && IsOrdered(node);
  return made;
}

Result<std::vector<Value>> Replay(const ir::Graph& graph,
                                  const std::vector<Value>& inputs,
                                  const OwnSchemas& own) {
  return ReplayBy(graph, inputs, own,
                  [](const std::shared_ptr<const NodeState>& node,
                     const std::vector<Value>& operands) {
                    return Forward(node, operands, {});
                  });
}

Result<std::vector<Value>> ReplayControl(const NodeState& node,
                                         const std::vector<Value>& inputs) {
  const auto replay = [&](const char* part, const std::vector<Value>& in) {
    return Replay(*std::get<std::shared_ptr<const ir::Graph>>(
                      *node.attributes.Find(part)),
                  in, node.own);
  };
  if (node.schema->control == ir::ControlKind::kIf) {
    TIM_ASSIGN_OR_RETURN(const bool taken, IsTrue(inputs[0]));
    return replay(taken ? ir::kThenGraph : ir::kElseGraph,
                  {inputs.begin() + 1, inputs.end()});
  }
  const int64_t most = node.attributes.Int(ir::kMaxTrips);
  std::vector<Value> state = inputs;
  // The order, which nobody here needs: see NodeState::ordered.
  if (node.ordered) state.emplace_back();
  for (int64_t trip = 0; most < 0 || trip < most; ++trip) {
    TIM_ASSIGN_OR_RETURN(const auto condition,
                         replay(ir::kConditionGraph, state));
    TIM_ASSIGN_OR_RETURN(const bool taken, IsTrue(condition[0]));
    if (!taken) break;
    TIM_ASSIGN_OR_RETURN(state, replay(ir::kBodyGraph, state));
  }
  return state;
}

Result<std::vector<Value>> ReplayInto(const ir::Graph& graph,
                                      const std::vector<Value>& inputs,
                                      const OwnSchemas& own,
                                      GraphState* target) {
  return ReplayBy(graph, inputs, own,
                  [target](const std::shared_ptr<const NodeState>& node,
                           const std::vector<Value>& operands) {
                    return target->Record(node, operands, {});
                  });
}

}  // namespace tim::values::internal
