// Kinds of operations that were registered while the process runs.
#ifndef TIM_GRAPH_API_EXTENDED_OPS_H_
#define TIM_GRAPH_API_EXTENDED_OPS_H_

#include <string_view>

#include "base/status.h"
#include "graph_api/extended_op.h"
#include "graph_api/op_def.h"
#include "tim/graph/c_extension.h"

namespace tim::graph {

/// Makes an operation known to this front and, as an operator, to all that
/// compile graphs.  Its kind is set.  kInvalidArgument where there is one of
/// its domain, name and version.  Any thread.
Result<tim_graph_op_kind_t> RegisterExtendedOp(ExtendedOp op);

/// Record of a registered kind; null where there is none.  Any thread.
const OpDef* FindExtendedOp(tim_graph_op_kind_t kind);
/// Version 0: the newest.
const OpDef* FindExtendedOp(std::string_view domain, std::string_view name,
                            int version);
/// A kind of the library or a registered one, by the name that dumps have:
/// "ReLU", "demo.FancyNorm@1", "demo.FancyNorm" (the newest).  Null: unknown.
const OpDef* FindOpNamed(std::string_view name);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_EXTENDED_OPS_H_
