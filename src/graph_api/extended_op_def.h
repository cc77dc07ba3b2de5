// Registered operations as kinds of this front.
#ifndef TIM_GRAPH_API_EXTENDED_OP_DEF_H_
#define TIM_GRAPH_API_EXTENDED_OP_DEF_H_

#include <memory>

#include "graph_api/extended_op.h"
#include "graph_api/op_def.h"

namespace tim::graph {

/// The record of an operation whose kind is set.
OpDef RecordOf(const std::shared_ptr<const ExtendedOp>& op);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_EXTENDED_OP_DEF_H_
