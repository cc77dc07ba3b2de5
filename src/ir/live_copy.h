// A graph without what nothing needs.
#ifndef TIM_IR_LIVE_COPY_H_
#define TIM_IR_LIVE_COPY_H_

#include <vector>

#include "ir/graph.h"

namespace tim::ir {

/// A copy whose outputs are these values: of nodes only those that an output, a
/// state update or an ordered effect needs, numbered anew in topological order;
/// of values the inputs, the states and those of the nodes.
/// \param graph without cycles.
Graph LiveCopy(const Graph& graph, const std::vector<ValueId>& outputs);

}  // namespace tim::ir

#endif  // TIM_IR_LIVE_COPY_H_
