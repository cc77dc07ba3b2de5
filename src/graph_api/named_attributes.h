// Attributes that are set by name, and those of registered kinds.
#ifndef TIM_GRAPH_API_NAMED_ATTRIBUTES_H_
#define TIM_GRAPH_API_NAMED_ATTRIBUTES_H_

#include "base/status.h"
#include "graph_api/op.h"
#include "graph_api/op_def.h"

namespace tim::graph {

/// An attribute that is set by name and by enumerator is one: it goes where its
/// kind has it, the one set by name before the other.  A scalar that was given
/// to a list is a list of one, and the other way round.  Defaults are filled.
void ResolveNamedAttributes(const OpDef& def, Op* op);

/// Required ones, types, choices, and names that the kind does not define.
/// kInvalidArgument as CheckOp().
Status CheckNamedAttributes(const OpDef& def, const Op& op);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_NAMED_ATTRIBUTES_H_
