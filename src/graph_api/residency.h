// Places of ports: on the host, on the device, or where both reach them.
#ifndef TIM_GRAPH_API_RESIDENCY_H_
#define TIM_GRAPH_API_RESIDENCY_H_

#include <cstddef>
#include <map>
#include <vector>

#include "base/status.h"
#include "graph_api/engine.h"
#include "graph_api/op.h"
#include "graph_api/tensor.h"
#include "tim/graph/c_memory.h"

namespace tim::graph {

using Residency = ::tim_graph_residency_t;
/// Wishes of a client by the id of a port's tensor.
using Residencies = std::map<size_t, Residency>;

/// Never automatic.  kInvalidArgument for a number that is none, a host scalar
/// elsewhere than on the host, and a device where the engine has none;
/// kUnimplemented for shared memory that the device does not have.
Result<Residency> ResidencyOf(const LogicalTensor& port,
                              const Residencies& wanted, const Engine& engine);

/// True where runs are handed the port's memory as the device's.
inline bool IsOnDevice(Residency residency, const Engine& engine) {
  return residency == tim_graph_residency_device ||
         (residency == tim_graph_residency_shared &&
          engine.kind() == tim_graph_gpu);
}

/// kInvalidArgument where a tensor's memory is not where its port is.
Status CheckPlace(const ClientTensor& tensor, Residency residency,
                  const Engine& engine);

/// True where a port may be given as `given`, and is converted: both are
/// floating-point types, and the client has said where the port is.
bool IsConverted(const LogicalTensor& port, tim_graph_data_type_t given,
                 const Residencies& wanted);

/// Inserts a TypeCast for each port whose memory has another type than the
/// graph.  `ops` in topological order, before and after.
/// \param inputs, outputs as the client gives them.
void ConvertPorts(const std::vector<LogicalTensor>& inputs,
                  const std::vector<LogicalTensor>& outputs,
                  std::vector<Op>* ops);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_RESIDENCY_H_
