// Graphs as calls: their nodes one after the other.
#ifndef TIM_VALUES_REPLAY_H_
#define TIM_VALUES_REPLAY_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "tim/values/value.h"
#include "values/graph_state.h"

namespace tim::values::internal {

/// The node as a function of values.
std::shared_ptr<const NodeState> NodeOf(const ir::Graph& graph,
                                        const ir::Node& node,
                                        const OwnSchemas& own);

/// Calls the nodes of the graph, whose types are inferred, with values for its
/// inputs; its outputs.  Where a graph is being made of an input, its nodes
/// become nodes of that one; else they run or are recorded as any call.
/// \param own schemas in the graph that no registry of the process has.
Result<std::vector<Value>> Replay(const ir::Graph& graph,
                                  const std::vector<Value>& inputs,
                                  const OwnSchemas& own);
/// Calls the nodes of the graphs of an If or a While, of values with bytes, as
/// its conditions say; its outputs.
Result<std::vector<Value>> ReplayControl(const NodeState& node,
                                         const std::vector<Value>& inputs);
/// The same as Replay() into the graph that is being made.
Result<std::vector<Value>> ReplayInto(const ir::Graph& graph,
                                      const std::vector<Value>& inputs,
                                      const OwnSchemas& own,
                                      GraphState* target);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_REPLAY_H_
