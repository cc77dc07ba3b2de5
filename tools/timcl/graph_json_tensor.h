// Logical tensors in files of graphs.
#ifndef TIM_TOOLS_TIMCL_GRAPH_JSON_TENSOR_H_
#define TIM_TOOLS_TIMCL_GRAPH_JSON_TENSOR_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "graph_api/op.h"
#include "tools/timcl/json_place.h"

namespace tim::tool {

/// Dims below 0 are unknown, a single one of them is an unknown rank.  Strides
/// that are not listed are those of a dense tensor.  kInvalidArgument names the
/// place.
Result<graph::LogicalTensor> ReadLogicalTensor(const JsonPlace& place);

/// Gives every use of a tensor what one of them says and others leave open:
/// dims, type, layout, property.  What contradicts stays, for the graph to
/// refuse.
void AgreeOnTensors(std::vector<graph::Op>* ops);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_GRAPH_JSON_TENSOR_H_
