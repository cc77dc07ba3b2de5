// Comparison of a graph with what a plug-in made of it.
#ifndef TIM_PLUGIN_EDIT_CHECK_H_
#define TIM_PLUGIN_EDIT_CHECK_H_

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_registry.h"

namespace tim::plugin {

/// kInvalidArgument where the two graphs, which have the same inputs and
/// outputs, give different results for inputs that look random.  Graphs with
/// states, unknown extents or operators without a reference are not compared.
Status CompareByEval(const ir::Graph& before, ir::Graph after,
                     const ir::OpRegistry& operators);

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_EDIT_CHECK_H_
