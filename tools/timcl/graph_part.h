// Parts of a graph as binary graphs of their own.
#ifndef TIM_TOOLS_TIMCL_GRAPH_PART_H_
#define TIM_TOOLS_TIMCL_GRAPH_PART_H_

#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "binary/blob.h"
#include "ir/graph.h"
#include "ir/op_registry.h"

namespace tim::tool {

using Nodes = std::set<ir::NodeId>;

/// A binary graph's graph with types and shapes of all values.
struct WholeGraph {
  std::shared_ptr<ir::OpRegistry> registry;
  ir::Graph graph;

  static Result<WholeGraph> Of(const binary::Blob& blob);

  /// The nodes that have the name; of a step that is inside of a node made of
  /// others ("LSTM#3/MatMul#1"), that node.
  Nodes Named(const std::string& name) const;
  /// The producers of what `nodes` read, without those in `nodes`.
  Nodes ProducersOf(const Nodes& nodes) const;
  /// Nodes of `nodes` whose results `last` needs, by way of others of them.
  Nodes NeededBy(ir::NodeId last, const Nodes& nodes) const;
};

struct GraphPart {
  binary::Blob blob;
  std::span<const std::byte> bytes;  ///< The file; `blob` keeps them.
  /// Values of the whole that are the part's inputs, in their order: inputs and
  /// states of the whole, and results of nodes that are not in the part.
  std::vector<ir::ValueId> inputs;
};

/// The nodes, with their constants; the outputs are those of node `last`.
Result<GraphPart> MakePart(const WholeGraph& whole, const std::string& name,
                           const Nodes& nodes, ir::NodeId last);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_GRAPH_PART_H_
