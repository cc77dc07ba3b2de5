// Devices that run the operations of a graph, and why.
#ifndef TIM_VX_PLACEMENT_H_
#define TIM_VX_PLACEMENT_H_

#include <string>

#include "tim/vx/export.h"

namespace tim {
namespace vx {

class Graph;
class Operation;

/// The operation, and all that it is composed of, must run on `device`: a name
/// as of Context::CreateOn(), "opencl:1" or "host".  "" ends it: the device is
/// chosen then.  An inner operation's own affinity goes before that of the
/// composed operation that made it.  Counts from the next Compile() on, which
/// fails, naming the operation, the device and the kernels' reasons, where the
/// device is none of the context's or cannot run it.
/// \return false, with LastError(), where the operation is of no graph.
TIM_VX_API bool SetAffinity(Operation& operation, const std::string& device);

/// The division of the graph by the last successful Compile(), as JSON: devices
/// with the figures that they were compared by, parts, nodes with their kernels
/// and what was refused, and the divisions that were compared.  docs/devices.md
/// describes it, docs/partition.schema.json is its schema.  `measured_us` of a
/// part is there where runs of the graph were profiled.
/// \return "", with LastError(), where the graph is not compiled.
TIM_VX_API std::string PartitionAsJson(Graph& graph);

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_PLACEMENT_H_
