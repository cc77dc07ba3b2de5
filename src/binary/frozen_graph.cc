// Graphs frozen without being written, and thawed without being read.
#include "binary/frozen_graph.h"

#include <functional>
#include <utility>
#include <variant>
#include <vector>

#include "binary/table_file.h"
#include "ir/op_schema.h"

namespace tim::binary {
namespace {

/// What becomes of a graph, and of a node of it.
struct Edit {
  std::function<void(ir::Graph*)> graph;
  std::function<Status(const ir::Graph&, ir::Node*)> node;
};

Status EditGraph(ir::Graph* graph, int depth, const Edit& edit);

// The graphs that a node holds.
Status EditNested(ir::Node* node, int depth, const Edit& edit) {
  if (node->composite) {
    auto composite = std::make_shared<ir::Composite>(*node->composite);
    TIM_RETURN_IF_ERROR(EditGraph(&composite->body, depth, edit));
    node->composite = std::move(composite);
  }
  using Body = std::shared_ptr<const ir::Graph>;
  std::vector<std::pair<std::string, Body>> edited;
  for (const auto& [name, attribute] : node->attributes.entries()) {
    const auto* body = std::get_if<Body>(&attribute);
    if (body == nullptr || *body == nullptr) continue;
    auto copy = std::make_shared<ir::Graph>(**body);
    TIM_RETURN_IF_ERROR(EditGraph(copy.get(), depth, edit));
    edited.emplace_back(name, std::move(copy));
  }
  for (auto& [name, body] : edited) {
    node->attributes.Set(name, std::move(body));
  }
  return OkStatus();
}

Status EditGraph(ir::Graph* graph, int depth, const Edit& edit) {
  if (depth >= kMaxGraphDepth) {
    return Unimplemented("graph '", graph->name(), "' is nested deeper than ",
                         kMaxGraphDepth,
                         " graphs, which binary graphs are not");
  }
  for (const ir::NodeId id : graph->NodeIds()) {
    ir::Node& node = graph->node(id);
    TIM_RETURN_IF_ERROR(EditNested(&node, depth + 1, edit));
    TIM_RETURN_IF_ERROR(edit.node(*graph, &node));
  }
  if (edit.graph) edit.graph(graph);
  return OkStatus();
}

// What a file does not have of a graph.
void Forget(ir::Graph* graph) {
  for (const ir::ValueId id : graph->ValueIds()) {
    graph->value(id).preferred_shape = ir::Shape();
  }
}

bool IsUsers(const ir::Node& node) {
  return node.schema != nullptr && ir::HasUserKernel(node);
}

}  // namespace

Result<FrozenGraph> FreezeGraph(ir::Graph graph,
                                const ir::OpRegistry& registry) {
  FrozenGraph frozen;
  auto schemas = std::make_shared<ir::OpRegistry>();
  std::map<std::string, const ir::OpSchema*> made;
  const auto freeze = [&](const ir::Graph& owner, ir::Node* node) -> Status {
    node->device = -1;
    if (!IsUsers(*node)) return OkStatus();
    const std::string key = node->schema->Key();
    if (!made.contains(key)) {
      TIM_ASSIGN_OR_RETURN(UserOperator made_of,
                           Freeze(owner, *node, registry));
      made[key] = Register(made_of, "", schemas.get());
      frozen.operators.emplace(key, std::move(made_of));
    }
    node->schema = made.at(key);
    return OkStatus();
  };
  TIM_RETURN_IF_ERROR(EditGraph(&graph, 0, {.graph = Forget, .node = freeze}));
  frozen.graph = std::move(graph);
  frozen.registry = std::move(schemas);
  return frozen;
}

Result<ir::Graph> ThawGraph(const FrozenGraph& frozen,
                            const std::string& prefix,
                            ir::OpRegistry* registry) {
  ir::Graph graph = frozen.graph;
  if (frozen.operators.empty()) return graph;
  std::map<std::string, const ir::OpSchema*> made;
  for (const auto& [key, user] : frozen.operators) {
    made[key] = Register(user, prefix, registry);
  }
  const auto thaw = [&](const ir::Graph&, ir::Node* node) -> Status {
    if (!IsUsers(*node)) return OkStatus();
    const auto found = made.find(node->schema->Key());
    if (found == made.end()) {
      return TIM_INTERNAL("operation ", node->name, " was not frozen");
    }
    node->schema = found->second;
    return OkStatus();
  };
  TIM_RETURN_IF_ERROR(EditGraph(&graph, 0, {.graph = nullptr, .node = thaw}));
  return graph;
}

}  // namespace tim::binary
