// Partitions of graph files on an engine, through the boundary that frameworks
// use.
#ifndef TIM_TOOLS_TIMCL_GRAPH_RUNNER_H_
#define TIM_TOOLS_TIMCL_GRAPH_RUNNER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph_api/engine.h"
#include "graph_api/partition.h"
#include "tim/graph/c.h"
#include "tools/timcl/graph_tensor.h"

namespace tim::tool {

/// Tensors by id.
using GraphTensors = std::map<size_t, GraphTensor>;

/// A failure of the boundary with this thread's message: kInvalidArgument for
/// what a graph or its call has wrong, else kUnimplemented, kOutOfMemory or
/// kFailedPrecondition.
Status StatusOf(tim_graph_status_t code);

/// The description with a layout that memory of the tool can have: the given
/// strides, else none, which stand for rows without gaps.
graph::LogicalTensor Strided(graph::LogicalTensor tensor);

/// One run of a partition, and what it was run by.
struct PartitionRun {
  std::vector<GraphTensor> outputs = {};  ///< In the order of the ports.
  std::string kernels = {};               ///< With ";" between; may be empty.
  double first_ms = 0;                    ///< Of the first execute.
  double ms = 0;  ///< The least of those behind it; of the first if none.
};

class GraphRunner {
 public:
  /// \param device a cpu engine's, as TIMCL_DEVICE names it; empty: the kind's
  /// own.
  static Result<GraphRunner> Create(tim_graph_engine_kind_t kind,
                                    const std::string& device);

  /// "host", or the device's name.
  std::string DeviceName() const;

  /// Compiles and executes; `runs` times behind the first, which is not
  /// counted.
  /// \param tensors has the partition's inputs.
  /// \param dump a folder for the partition as it is compiled; empty: none.
  Result<PartitionRun> Run(
      const std::shared_ptr<const graph::Partition>& partition,
      const GraphTensors& tensors, int runs, const std::string& dump) const;

 private:
  struct Execution;

  std::shared_ptr<tim_graph_engine> engine_;
  std::shared_ptr<tim_graph_stream> stream_;
};

/// Results of the partition's ops one by one on the host from `tensors`, whose
/// formulas are the reference; all of their outputs, by id.
Result<GraphTensors> Evaluate(const graph::Partition& partition,
                              const GraphTensors& tensors);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_GRAPH_RUNNER_H_
