// Ops that a client adds, until it asks for partitions of them.
#ifndef TIM_GRAPH_API_GRAPH_H_
#define TIM_GRAPH_API_GRAPH_H_

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "graph_api/op.h"
#include "graph_api/op_def.h"
#include "graph_api/partition.h"
#include "graph_api/partitioning.h"
#include "tim/graph/c.h"

namespace tim::graph {

/// One thread at a time.
class Graph {
 public:
  explicit Graph(const GraphTraits& traits) : traits_(traits) {}

  const GraphTraits& traits() const { return traits_; }
  const std::vector<Op>& ops() const { return ops_; }
  bool finalized() const { return finalized_; }
  /// Partitions that Filter() made; empty before.
  const Partitions& partitions() const { return partitions_; }

  /// kFailedPrecondition once the graph is finalized.
  Status SetFpmathMode(tim_graph_fpmath_mode_t mode, bool applies_to_int);

  /// Keeps the op, unless an equal one with its id is there.
  ///
  /// kFailedPrecondition once the graph is finalized; kInvalidArgument of
  /// CheckOp(), or where another op has the id.
  Status AddOp(const OpTable& table, Op op);

  /// Connects the ops by the ids of their tensors; the second call does
  /// nothing.  kInvalidArgument: a tensor with two descriptions or producers,
  /// or a cycle; the graph stays open.
  Status Finalize();

  /// Makes partitions; those got before stay valid.  kFailedPrecondition before
  /// Finalize().
  Status Filter(const PartitionOptions& options);

 private:
  GraphTraits traits_;
  std::vector<Op> ops_;
  std::unordered_map<size_t, size_t> index_of_id_;
  bool finalized_ = false;
  Partitions partitions_;
};

}  // namespace tim::graph

struct tim_graph_graph {
  tim::graph::Graph graph;
};

struct tim_graph_op {
  tim::graph::Op op;
};

#endif  // TIM_GRAPH_API_GRAPH_H_
