// The CPU of this process: runs OpSchema::eval on ordinary memory.
#ifndef TIM_DEVICE_HOST_HOST_DEVICE_H_
#define TIM_DEVICE_HOST_HOST_DEVICE_H_

#include <memory>

#include "base/options.h"
#include "device/device.h"

namespace tim::device {

/// Work runs on the caller's thread inside Stream::Enqueue and Stream::Copy; an
/// error is returned there and again by the next event's Wait.
std::shared_ptr<Device> CreateHostDevice(const DeviceOptions& options = {});

}  // namespace tim::device

#endif  // TIM_DEVICE_HOST_HOST_DEVICE_H_
