// Streams of plug-ins' devices: their own, or those that a thread stands for.
#ifndef TIM_PLUGIN_PLUGIN_STREAM_H_
#define TIM_PLUGIN_PLUGIN_STREAM_H_

#include <memory>

#include "base/status.h"
#include "device/device.h"
#include "plugin/plugin_device.h"

namespace tim::plugin {

/// A stream of the device's own.
Result<std::unique_ptr<device::Stream>> CreateNativeStream(
    PluginDevice& device);

/// A stream of a device that has none: its calls are made by the device's
/// worker.
Result<std::unique_ptr<device::Stream>> CreateWorkerStream(
    PluginDevice& device);

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_PLUGIN_STREAM_H_
