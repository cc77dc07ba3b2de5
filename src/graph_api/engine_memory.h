// Devices that have their memory from a client's allocator.
#ifndef TIM_GRAPH_API_ENGINE_MEMORY_H_
#define TIM_GRAPH_API_ENGINE_MEMORY_H_

#include <memory>

#include "device/device.h"
#include "graph_api/allocator.h"
#include "tim/graph/c.h"

namespace tim::graph {

/// The devices as an engine of the kind uses them: where the allocator is a
/// client's, arenas, pools and constants are memory that it gave, of lifetime
/// temporary and persistent.  Memory of the host serves the host and devices
/// that work there; memory of OpenCL serves the OpenCL device.  What the
/// client's memory cannot serve is the device's own.
device::Devices WithMemoryOf(const std::shared_ptr<const Allocator>& allocator,
                             tim_graph_engine_kind_t kind,
                             device::Devices devices);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_ENGINE_MEMORY_H_
