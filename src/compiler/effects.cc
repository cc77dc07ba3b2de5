// Looks for effects in nodes and in the graphs inside of them.
#include "compiler/effects.h"

#include <algorithm>
#include <vector>

#include "ir/op_schema.h"

namespace tim::compiler {

bool HasEffects(const ir::Node& node) {
  if (node.schema != nullptr &&
      (node.schema->effects.random || node.schema->effects.ordered)) {
    return true;
  }
  const std::vector<const ir::Graph*> graphs = ir::NestedGraphs(node);
  return std::any_of(graphs.begin(), graphs.end(), [](const ir::Graph* graph) {
    const std::vector<ir::NodeId> ids = graph->NodeIds();
    return std::any_of(ids.begin(), ids.end(), [&](ir::NodeId id) {
      return HasEffects(graph->node(id));
    });
  });
}

}  // namespace tim::compiler
