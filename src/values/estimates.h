// Estimates of operators and graphs from specs alone.
#ifndef TIM_VALUES_ESTIMATES_H_
#define TIM_VALUES_ESTIMATES_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "tim/values/node.h"
#include "values/device_state.h"
#include "values/node_state.h"

namespace tim::values::internal {

/// Operands without content; those whose type is unknown at the end of what an
/// operator requires are absent.
Result<std::vector<runtime::NodeOperand>> OperandsOf(
    const NodeState& node, const std::vector<Spec>& inputs);

/// Bytes that the node needs; unknown extents count with their bounds.
/// kInvalidArgument names input and axis where an extent has no bound.
Result<MemoryEstimate> MemoryOf(const NodeState& node,
                                const std::vector<Spec>& inputs);
Result<ComputeEstimate> ComputeOf(const NodeState& node,
                                  const std::vector<Spec>& inputs);
Result<double> PredictNode(const NodeState& node,
                           const std::vector<Spec>& inputs,
                           const std::shared_ptr<DeviceState>& device);

/// Sums over the nodes of a graph that has been inferred, bodies for those that
/// have one.
ComputeEstimate ComputeOfGraph(const ir::Graph& graph);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_ESTIMATES_H_
