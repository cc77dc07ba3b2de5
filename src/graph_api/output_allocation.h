// Outputs whose memory the client allocates when they are made.
#ifndef TIM_GRAPH_API_OUTPUT_ALLOCATION_H_
#define TIM_GRAPH_API_OUTPUT_ALLOCATION_H_

#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "graph_api/op.h"
#include "graph_api/tensor.h"
#include "tim/graph/c_memory.h"

namespace tim::graph {

/// True where an execute may find outputs without memory.
inline bool AllocatesOutputs(const tim_graph_execute_options_t* options) {
  return options != nullptr && options->allocate_output != nullptr;
}

/// Asks once for each output of some bytes whose handle is null.  Handles are
/// set when there is memory for all of them: where there is none for one, all
/// stay null, and what the client has given before stays the client's.
/// \param name of the partition, for messages.
/// \param ports, bytes, outputs by port.
Status AllocateOutputs(const tim_graph_execute_options_t& options,
                       const std::string& name,
                       std::span<const LogicalTensor> ports,
                       std::span<const int64_t> bytes,
                       std::span<const const_tim_graph_tensor_t> outputs);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_OUTPUT_ALLOCATION_H_
