// A graph of tim::values as one of tim::vx.
#ifndef TIM_BRIDGES_TO_VX_H_
#define TIM_BRIDGES_TO_VX_H_

#include <memory>

#include "base/status.h"
#include "tim/vx/context.h"
#include "values/graph_state.h"

namespace tim::bridges {

/// The graph that values::ToVxGraph() gives.
Result<std::shared_ptr<vx::Graph>> ToVx(
    const values::internal::GraphState& graph, vx::Context* context);

}  // namespace tim::bridges

#endif  // TIM_BRIDGES_TO_VX_H_
