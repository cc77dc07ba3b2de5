// Division of a graph's nodes into parts without cycles between them.
//
// The algorithm knows nodes by number, so that it serves every description of
// a graph: the fronts' lists of ops, which have no shapes yet, and ir::Graph,
// of which a splitter over several devices makes parts.
#ifndef TIM_COMPILER_PARTITIONER_H_
#define TIM_COMPILER_PARTITIONER_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"

namespace tim::compiler {

/// Label of nodes that stay alone.
inline constexpr int kAlone = -1;

/// Nodes 0, 1, ... in the order in which they were added, which breaks ties.
struct PartitionInput {
  /// Per node the nodes that produce its inputs, in the order of the inputs;
  /// one may be there several times.
  std::vector<std::vector<size_t>> producers = {};
  /// Per node: only nodes of equal labels share a part (a device, say).
  std::vector<int> labels = {};
  /// Per node whether PartitionLimits::max_anchors counts it; empty: none is.
  std::vector<bool> anchors = {};
  /// Per node, for PartitionLimits::max_partitions; empty: 1 each.
  std::vector<double> costs = {};
};

/// 0: no limit.
struct PartitionLimits {
  size_t max_ops = 0;  ///< Nodes per part.
  /// Smaller parts are dissolved into nodes that stay alone.
  size_t min_ops = 1;
  /// The parts of the largest sums of costs stay, of equal ones the earlier;
  /// the others are dissolved.  Nodes that stay alone do not count.
  size_t max_partitions = 0;
  size_t max_anchors = 0;  ///< Per part.
};

struct Part {
  std::vector<size_t> nodes = {};  ///< In topological order, ties by number.
  int label = kAlone;              ///< kAlone too where it was dissolved.
};

/// Parts that are disjoint, cover all nodes, and are connected and convex: the
/// graph of parts has no cycle.  None can be joined with a neighbour of its
/// label without a cycle or a broken limit.  In topological order, ties by the
/// earliest node.  Equal arguments give equal parts.
///
/// Nodes are visited in topological order, and their inputs by index: the
/// part of a node joins its producer's, where limits allow and no path from one
/// to the other goes through a third part, until nothing changes.
///
/// kInvalidArgument: limits that contradict one another, a producer that is no
/// node, lists of different lengths, a cycle.
Result<std::vector<Part>> PartitionNodes(const PartitionInput& input,
                                         const PartitionLimits& limits);

/// Parts of a graph's nodes; `nodes` are NodeIds, ties by them.
struct GraphPart {
  std::vector<ir::NodeId> nodes = {};
  int label = kAlone;
};

/// The same for `graph`, where `label` is asked once about each node.
Result<std::vector<GraphPart>> PartitionGraph(
    const ir::Graph& graph, const std::function<int(const ir::Node&)>& label,
    const PartitionLimits& limits);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_PARTITIONER_H_
