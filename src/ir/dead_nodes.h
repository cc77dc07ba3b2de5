// What of a graph nothing needs.
#ifndef TIM_IR_DEAD_NODES_H_
#define TIM_IR_DEAD_NODES_H_

#include <vector>

#include "base/status.h"
#include "ir/graph.h"

namespace tim::ir {

/// Removes nodes whose outputs nothing needs and whose effects have no order,
/// and the values that nothing makes, reads or returns any more; ids of the
/// others stay.  kInternal: the graph has a cycle, which the message names.
/// \param live values that are needed beside the graph's outputs and states.
Status RemoveDeadNodes(Graph* graph, const std::vector<ValueId>& live = {});

}  // namespace tim::ir

#endif  // TIM_IR_DEAD_NODES_H_
