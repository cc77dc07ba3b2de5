// OpenCL devices.
#ifndef TIM_DEVICE_OPENCL_OPENCL_DEVICE_H_
#define TIM_DEVICE_OPENCL_OPENCL_DEVICE_H_

#include <compare>
#include <memory>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/status.h"
#include "device/device.h"
#include "device/opencl/fork/opencl_process.h"

namespace tim::device {

struct OpenClDeviceFacts {
  std::string name;  ///< For people.
  int cores = 1;     ///< Parts that CreateOpenClDevice() makes devices of.
};

/// All devices of all platforms, in the loader's order, as they were found
/// first; none without a driver.
std::vector<OpenClDeviceFacts> ListOpenClDevices();

/// How many they are.
int CountOpenClDevices();

/// Cores of a device, which share nothing with other cores but its memory.
struct CoreRange {
  int first = 0;
  int count = 0;  ///< 0: all.

  friend auto operator<=>(const CoreRange&, const CoreRange&) = default;
};

/// `index` counts all devices of all platforms, in the loader's order.
/// kNotFound where there is none, kInvalidArgument where there are fewer, or
/// fewer cores.
Result<std::shared_ptr<Device>> CreateOpenClDevice(int index,
                                                   const DeviceOptions& options,
                                                   CoreRange cores = {});

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_OPENCL_DEVICE_H_
