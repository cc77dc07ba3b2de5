// Verbose lines of compiles and executes:
//   timcl_graph,<what>,<engine kind>,<partition id>,<op names>,<formats>,
//   <ports>,fpm:<mode>,scratchpad:<bytes>,<kernels>,<device>,<ms>
#ifndef TIM_GRAPH_API_VERBOSE_LINES_H_
#define TIM_GRAPH_API_VERBOSE_LINES_H_

#include <chrono>
#include <string>

#include "graph_api/compile.h"
#include "graph_api/compiled_partition.h"
#include "graph_api/runnable.h"
#include "graph_api/stream.h"
#include "ir/plan.h"

namespace tim::graph::verbose {

/// A compile from its call on; nothing where no line is wanted.
class CompileLine {
 public:
  CompileLine();
  /// \param hit it was in the cache.
  void End(bool hit, const CompileSource& source,
           const CompiledPartition& compiled) const;

 private:
  const bool wanted_;
  std::chrono::steady_clock::time_point begin_ = {};
};

/// An execute, which begins and ends while nothing else of its stream runs, so
/// that the time is its own; nothing where no line is wanted.
class ExecuteLine {
 public:
  /// Waits for what the stream has in flight.
  explicit ExecuteLine(Stream& stream);
  /// Waits for the stream, and prints the line unless a run of it has failed.
  /// \param plan of the execute; null: there was nothing to do.
  void End(const CompiledPartition& compiled, const Runnable* plan) const;

 private:
  Stream* const stream_;  ///< Null: no line is wanted.
  std::chrono::steady_clock::time_point begin_ = {};
};

/// "in0_f32:0:strided:undef:16x64:64s1": index, type, id, layout, property,
/// dims, and strides or the layout's id.
std::string PortText(const char* what, size_t index,
                     const LogicalTensor& tensor);

/// "data:NXC;weights:OIX": formats that ops ask for, each once.
std::string FormatsText(const std::vector<Op>& ops);

/// Kernels in the order of their first steps, each once, with ";" between; an
/// operator that the host evaluates is "host:<operator>".
std::string KernelsText(const ir::Plan& plan);

}  // namespace tim::graph::verbose

#endif  // TIM_GRAPH_API_VERBOSE_LINES_H_
