// Devices behind engines whose clients know only the CPU.
#ifndef TIM_GRAPH_API_OFFLOAD_H_
#define TIM_GRAPH_API_OFFLOAD_H_

#include <string>

#include "base/status.h"
#include "device/device.h"
#include "graph_api/engine.h"
#include "ir/plan.h"

namespace tim::graph {

/// "opencl:<number>", "opencl" or "host"; kInvalidArgument for what names no
/// device of this machine.
Result<device::Devices> OffloadDevices(const std::string& name);

/// True where a plan with work for the host is refused: of an offloaded engine,
/// with TIMCL_STRICT=1.
bool RefusesHostSteps(const Engine& engine);

/// A verbose line (dispatch) that says what of an offloaded engine's plan the
/// host does, where it does any.
void ReportHostSteps(const ir::Plan& plan, const Engine& engine);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_OFFLOAD_H_
