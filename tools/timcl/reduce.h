// The smallest part of a network in which two runs still differ.
#ifndef TIM_TOOLS_TIMCL_REDUCE_H_
#define TIM_TOOLS_TIMCL_REDUCE_H_

#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "tools/timcl/arguments.h"
#include "tools/timcl/compared_sides.h"
#include "tools/timcl/layer_differences.h"

namespace tim::tool {

/// A layer that differs, and the names of the nodes that it may be cut down to.
struct SuspectedLayer {
  const LayerDifference* layer = nullptr;
  std::set<std::string> nodes;
};

/// A part that was written to files.
struct ReducedGraph {
  std::vector<std::string> nodes;   ///< In the order in which they run.
  std::vector<std::string> graphs;  ///< One file, two for two graphs.
  std::vector<std::string> inputs;  ///< .npy
  std::string command;              ///< Repeats the difference, for a shell.
};

/// Tries the suspected layers one after the other, alone, with their inputs
/// from the second run; where none differs alone, the last one with more and
/// more of what is before it.  From the first part that differs, nodes are
/// taken away at the front as long as it does.  Writes it to a folder, which is
/// made where it is missing.  kFailedPrecondition where no part differs.
Result<ReducedGraph> Reduce(const Sides& sides,
                            const std::vector<SuspectedLayer>& suspected,
                            const Tolerances& tolerances,
                            const Arguments& arguments);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_REDUCE_H_
