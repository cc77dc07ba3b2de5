// What a graph, its tensors and its operations share, so that they may be
// destroyed in any order.
#ifndef TIM_VX_GRAPH_CORE_H_
#define TIM_VX_GRAPH_CORE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "vx/context_impl.h"
#include "vx/host_memory.h"

namespace tim::vx {

class Graph;

struct GraphCore {
  std::string name;        ///< "g3": unique in the process.
  Graph* graph = nullptr;  ///< Null once the graph is destroyed.
  std::shared_ptr<const ContextState> context;
  HostMemory memory;
  std::string error;  ///< Graph::ErrorMessage()
  uint32_t next_tensor_id = 0;
  uint32_t last_uid = 0;  ///< Of operations.
};

/// The core of a graph that this library made, else null.
std::shared_ptr<GraphCore> CoreOf(Graph* graph);

/// Fail() for something that belongs to a graph, which the message names.
bool Fail(GraphCore& core, const Status& status);

}  // namespace tim::vx

#endif  // TIM_VX_GRAPH_CORE_H_
