// Nodes that must run on a device of the test's choice.
#ifndef TIM_TESTS_SUPPORT_PINNED_NODES_H_
#define TIM_TESTS_SUPPORT_PINNED_NODES_H_

#include "ir/graph.h"

namespace tim::testing {

/// Sets the device of every node to what `device_of(node)` gives.
template <typename Function>
void PinNodes(ir::Graph& graph, Function device_of) {
  for (const ir::NodeId id : graph.NodeIds()) {
    graph.node(id).device = device_of(graph.node(id));
  }
}

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_PINNED_NODES_H_
