// Files that a Compile and its runs leave in a folder, for people who look
// inside.
#ifndef TIM_VX_DUMP_GRAPH_DUMP_H_
#define TIM_VX_DUMP_GRAPH_DUMP_H_

#include <memory>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/status.h"
#include "compiler/compiler.h"
#include "ir/graph.h"
#include "ir/plan.h"
#include "vx/dump/name_filter.h"
#include "vx/dump/run_dump.h"

namespace tim::vx {

/// Files of one Compile; docs/dump.md lists them.  They begin with a number
/// that no file of the folder had.  What cannot be written is logged once, and
/// ends the dump, not what is observed.  One thread at a time.
class GraphDump {
 public:
  /// Makes the folder and the first file.
  /// kInvalidArgument where that cannot be done.
  static Result<std::shared_ptr<GraphDump>> Create(const DumpOptions& options,
                                                   const std::string& graph);

  /// From now on `dump` is told of the passes.
  static void Observe(const std::shared_ptr<GraphDump>& dump,
                      compiler::CompileOptions* options);
  void AfterPass(const std::string& pass, const ir::Graph& graph);
  /// The graph before kernels are chosen.
  void AddGraph(const ir::Graph& graph);
  /// The plan that will run; warns where the filter matches nothing of it.
  void AddPlan(const ir::Plan& plan);

  /// For the next run of the plan; null where enough were written.
  std::unique_ptr<RunDump> BeginRun(const ir::Plan& plan);
  void EndRun(RunDump& run);

  /// The first failure to write.
  const Status& status() const { return status_; }

 private:
  GraphDump(const DumpOptions& options, std::string graph)
      : options_(options), graph_(std::move(graph)), filter_(options.filter) {}
  Status TakeNumber();
  void Write(const std::string& name, const std::string& text);
  void Keep(const Status& status);

  const DumpOptions options_;
  const std::string graph_;
  const NameFilter filter_;
  std::string prefix_;  // "folder/3_"
  std::vector<std::string> passes_;
  int runs_ = 0;
  Status status_;
};

}  // namespace tim::vx

#endif  // TIM_VX_DUMP_GRAPH_DUMP_H_
