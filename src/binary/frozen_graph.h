// A graph without the classes of its custom operations: what a binary graph
// holds, in memory.
#ifndef TIM_BINARY_FROZEN_GRAPH_H_
#define TIM_BINARY_FROZEN_GRAPH_H_

#include <map>
#include <memory>
#include <string>

#include "base/status.h"
#include "binary/user_operator.h"
#include "ir/graph.h"
#include "ir/op_registry.h"

namespace tim::binary {

/// Ids are those of the graph that it was made of.
struct FrozenGraph {
  ir::Graph graph;
  /// By key of the schema that nodes name.
  std::map<std::string, UserOperator> operators;
  /// Has the schemas of `operators` that nodes of `graph` point to.
  std::shared_ptr<const ir::OpRegistry> registry;
};

/// What EncodeGraph() would write of a graph whose types and shapes are
/// inferred, and fails where that does.  `registry` has its operators; those
/// that have no user's kernel must outlive what is made of the frozen graph.
Result<FrozenGraph> FreezeGraph(ir::Graph graph,
                                const ir::OpRegistry& registry);

/// What ReadGraph() would read: the graph, its frozen operators registered
/// under names that begin with `prefix`.
Result<ir::Graph> ThawGraph(const FrozenGraph& frozen,
                            const std::string& prefix,
                            ir::OpRegistry* registry);

}  // namespace tim::binary

#endif  // TIM_BINARY_FROZEN_GRAPH_H_
