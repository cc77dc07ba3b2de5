// A graph of tim::vx as one of tim::values.
#ifndef TIM_BRIDGES_FROM_VX_H_
#define TIM_BRIDGES_FROM_VX_H_

#include <memory>

#include "base/status.h"
#include "tim/vx/graph.h"
#include "values/graph_state.h"

namespace tim::bridges {

/// The graph that values::FromVxGraph() gives.  Calls code of the user:
/// overrides, and the wiring of composed operations.
Result<std::shared_ptr<values::internal::GraphState>> FromVx(vx::Graph* graph);

}  // namespace tim::bridges

#endif  // TIM_BRIDGES_FROM_VX_H_
