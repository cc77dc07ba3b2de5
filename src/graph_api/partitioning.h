// From the ops of a finalized graph to partitions.
#ifndef TIM_GRAPH_API_PARTITIONING_H_
#define TIM_GRAPH_API_PARTITIONING_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "base/status.h"
#include "graph_api/op.h"
#include "graph_api/partition.h"
#include "tim/graph/c.h"

namespace tim::graph {

/// 0: no limit.
struct PartitionOptions {
  tim_graph_partition_policy_t policy = tim_graph_partition_policy_fusion;
  size_t max_ops = 0;         ///< Per partition.
  size_t min_ops = 1;         ///< Of supported ones; smaller are dissolved.
  size_t max_partitions = 0;  ///< Supported ones; the cheapest are dissolved.
  size_t max_anchors = 0;     ///< OpDef::anchor, per partition.
};

/// kUnimplemented says why an op that CheckOp() took is not supported: by its
/// kind, attributes, types and known dims alone.
Status CheckSupported(const Op& op);
/// The same for engines of the kind, whose devices some registered ops need.
Status CheckSupported(const Op& op, tim_graph_engine_kind_t kind);

/// The partitions of `ops`, in topological order, ties by earliest op; ids rise
/// in that order.  What is not supported is a partition by itself.
///
/// kInvalidArgument: options that contradict one another, or a cycle.
/// \param ops in the order of adding; each passed CheckOp(), and no tensor has
///     two producers.
Result<Partitions> MakePartitions(const std::vector<Op>& ops,
                                  const GraphTraits& traits,
                                  const PartitionOptions& options);

/// Ports of `ops`, where `used_outside` says which of the tensors that they
/// produce other ops read.
Ports PortsOf(const std::vector<Op>& ops,
              const std::vector<size_t>& used_outside = {});

/// The partition of one op that passed CheckOp(), without a graph.
std::shared_ptr<const Partition> PartitionOfOp(Op op,
                                               tim_graph_engine_kind_t kind);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_PARTITIONING_H_
