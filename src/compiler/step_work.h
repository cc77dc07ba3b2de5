// Work of the steps of a node, for reports.
#ifndef TIM_COMPILER_STEP_WORK_H_
#define TIM_COMPILER_STEP_WORK_H_

#include "ir/graph.h"
#include "ir/plan.h"

namespace tim::compiler {

/// The node's operator, operations and bytes.
ir::PlanNotes::Work WorkOf(const ir::Graph& graph, const ir::Node& node);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_STEP_WORK_H_
