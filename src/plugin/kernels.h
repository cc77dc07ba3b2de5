// Kernels of plug-ins as the compiler knows kernels.
#ifndef TIM_PLUGIN_KERNELS_H_
#define TIM_PLUGIN_KERNELS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "ir/kernel_def.h"
#include "plugin/loaded_plugin.h"
#include "tim/plugin/tim_plugin.h"

namespace tim::plugin {

/// Kernel `index` of the plug-in's list.  Its functions make views and sinks,
/// and refuse once the plug-in is unloaded or broke its contract.
/// \param props of the plug-in's devices, by number: what kernels for its own
///     kind are told of one.
ir::KernelDef KernelOf(const std::shared_ptr<const LoadedPlugin>& plugin,
                       size_t index, std::vector<TimDeviceProps> props);

/// The device of these that `info` tells of, by name and driver; the first one
/// where none is. `props` is not empty.
const TimDeviceProps& PropsFor(const ir::DeviceInfo& info,
                               const std::vector<TimDeviceProps>& props);

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_KERNELS_H_
