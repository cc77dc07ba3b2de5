// A part of a graph that a client compiles as one.
#ifndef TIM_GRAPH_API_PARTITION_H_
#define TIM_GRAPH_API_PARTITION_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "graph_api/compile.h"
#include "graph_api/op.h"
#include "tim/graph/c.h"

namespace tim::graph {

/// Traits that a graph gives all of its ops.
struct GraphTraits {
  tim_graph_engine_kind_t kind = tim_graph_cpu;
  tim_graph_fpmath_mode_t fpmath_mode = tim_graph_fpmath_mode_strict;
  bool fpmath_applies_to_int = false;
};

/// Logical tensors that cross a partition's border, as its ops describe them,
/// each id once.
struct Ports {
  /// Read here and produced outside, in the order of first use.
  std::vector<LogicalTensor> inputs = {};
  /// Produced here and read outside, or by nobody, by producing op and index.
  std::vector<LogicalTensor> outputs = {};
};

/// Does not change; any thread.  Needs no graph.
class Partition {
 public:
  /// Its id is larger than those of all partitions of the process so far.
  /// \param ops in topological order, each with its `def`.
  Partition(const GraphTraits& traits, std::vector<Op> ops, Ports ports,
            bool supported);
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  size_t id() const { return id_; }
  const GraphTraits& traits() const { return traits_; }
  const std::vector<Op>& ops() const { return ops_; }
  const Ports& ports() const { return ports_; }
  /// Compile() refuses those that are not.
  bool supported() const { return supported_; }
  /// Refers to this partition.
  CompileSource source() const;

 private:
  const size_t id_;
  const GraphTraits traits_;
  const std::vector<Op> ops_;
  const Ports ports_;
  const bool supported_;
};

using Partitions = std::vector<std::shared_ptr<const Partition>>;

}  // namespace tim::graph

/// Holds a partition for a client.
struct tim_graph_partition {
  std::shared_ptr<const tim::graph::Partition> partition = nullptr;
};

#endif  // TIM_GRAPH_API_PARTITION_H_
