// The data of a report: all that its page shows.
#ifndef TIM_TOOLS_TIMCL_REPORT_DATA_H_
#define TIM_TOOLS_TIMCL_REPORT_DATA_H_

#include <string>

#include "ir/graph.h"
#include "ir/plan.h"
#include "runtime/profile.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {

struct ReportFacts {
  std::string file;          ///< Its name without the folder.
  std::string file_library;  ///< The version that wrote it.
  const ir::Graph& graph;    ///< As written, with types and shapes.
  const ir::Plan& plan;      ///< With notes.
  const runtime::RunProfile& profile;
  double run_us = 0;  ///< Median of ordinary runs.
};

/// "nodes", "values", "inputs", "outputs", "states" are the graph as it was
/// written, values by their index; "operations" are the plan's steps by label,
/// "steps" the operation of each; a node has the operations that run it.
/// docs/timcl.md has the rest.
Json ReportData(const ReportFacts& facts);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_REPORT_DATA_H_
