// Environment that a graph runs in, as reports tell it.
#ifndef TIM_VX_CORE_ENVIRONMENT_H_
#define TIM_VX_CORE_ENVIRONMENT_H_

#include <vector>

#include "base/options.h"
#include "binary/record_file.h"
#include "device/device.h"

namespace tim::vx {

/// Library, system, devices in their order, and options of a Compile; then the
/// variables that are set, but for those of records themselves.
std::vector<binary::Fact> EnvironmentOf(const device::Devices& devices,
                                        bool strict, bool lenient);

}  // namespace tim::vx

#endif  // TIM_VX_CORE_ENVIRONMENT_H_
