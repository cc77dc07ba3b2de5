// From a partition to a compiled one.
#ifndef TIM_GRAPH_API_COMPILE_H_
#define TIM_GRAPH_API_COMPILE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph_api/compiled_partition.h"
#include "graph_api/engine.h"
#include "graph_api/op.h"
#include "graph_api/residency.h"
#include "tim/graph/c.h"

namespace tim::graph {

/// Source of a Compile(): ops in topological order, each with its `def`, and
/// ports.
struct CompileSource {
  size_t id = 0;          ///< Of the partition.
  std::string name = {};  ///< For messages; empty: "partition <id>".
  bool supported = true;
  tim_graph_engine_kind_t kind = tim_graph_cpu;
  tim_graph_fpmath_mode_t fpmath_mode = tim_graph_fpmath_mode_strict;
  bool fpmath_applies_to_int = false;
  const std::vector<Op>* ops = nullptr;
  const std::vector<LogicalTensor>* inputs = nullptr;
  const std::vector<LogicalTensor>* outputs = nullptr;
};

struct CompileResult {
  std::shared_ptr<const CompiledPartition> compiled = nullptr;
  /// Code that the client is told of a failure.
  tim_graph_status_t code = tim_graph_success;
  Status status = {};
};

/// Descriptions are matched to ports by id.
/// \param engine may be null, which is refused.
/// \param residencies of ports, where they are not automatic.
CompileResult Compile(const CompileSource& source,
                      const std::vector<LogicalTensor>& inputs,
                      const std::vector<LogicalTensor>& outputs,
                      std::shared_ptr<tim_graph_engine> engine,
                      const Residencies& residencies = {});

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_COMPILE_H_
