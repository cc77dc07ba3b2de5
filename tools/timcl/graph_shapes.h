// Dims that a command line gives to tensors of a graph file.
#ifndef TIM_TOOLS_TIMCL_GRAPH_SHAPES_H_
#define TIM_TOOLS_TIMCL_GRAPH_SHAPES_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "graph_api/op.h"

namespace tim::tool {

/// Each of `shapes` is "ID=1x3x4", "ID=" for a scalar.  kInvalidArgument for
/// other texts, ids that no op has, and dims that contradict the file's.
Status SetShapes(const std::vector<std::string>& shapes,
                 std::vector<graph::Op>* ops);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_GRAPH_SHAPES_H_
