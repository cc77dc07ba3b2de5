// Looks for effects and decisions in nodes and in the graphs inside of them.
#include "compiler/effects.h"

#include <algorithm>
#include <vector>

#include "ir/op_schema.h"

namespace tim::compiler {
namespace {

// Whether it is true of the node or of one in its graphs.
bool IsAny(const ir::Node& node, bool (*is_true)(const ir::Node&)) {
  if (is_true(node)) return true;
  const std::vector<const ir::Graph*> graphs = ir::NestedGraphs(node);
  return std::any_of(graphs.begin(), graphs.end(), [&](const auto* graph) {
    const std::vector<ir::NodeId> ids = graph->NodeIds();
    return std::any_of(ids.begin(), ids.end(), [&](ir::NodeId id) {
      return IsAny(graph->node(id), is_true);
    });
  });
}

}  // namespace

bool HasEffects(const ir::Node& node) {
  return IsAny(node, [](const ir::Node& one) {
    return one.schema != nullptr &&
           (one.schema->effects.random || one.schema->effects.ordered);
  });
}

bool HasControl(const ir::Node& node) {
  return IsAny(
      node, [](const ir::Node& one) { return ir::ControlOf(one).has_value(); });
}

}  // namespace tim::compiler
