// Which devices a context uses.
#ifndef TIM_VX_GRAPH_DEVICE_SELECTION_H_
#define TIM_VX_GRAPH_DEVICE_SELECTION_H_

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "device/device.h"

namespace tim::vx {

/// The devices for TIMCL_DEVICE = `wanted` ("" = unset); the first is the
/// host.  All calls of the process share devices for as long as any is in use.
/// Any thread.
Result<std::vector<std::shared_ptr<device::Device>>> SelectDevices(
    const std::string& wanted);

}  // namespace tim::vx

#endif  // TIM_VX_GRAPH_DEVICE_SELECTION_H_
