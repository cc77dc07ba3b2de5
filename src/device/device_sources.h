// Devices of other kinds than the host's and OpenCL's.
#ifndef TIM_DEVICE_DEVICE_SOURCES_H_
#define TIM_DEVICE_DEVICE_SOURCES_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "device/device.h"

namespace tim::device {

/// Facts about a device that is not opened yet.
struct SourceDevice {
  ir::DeviceInfo info;
  int score = 0;  ///< 0: it is not usable here, and `reason` says why.
  std::string reason;
};

/// A provider of devices of one kind.  Functions are called by any thread,
/// several at a time.
struct DeviceSource {
  std::string kind;  ///< ir::DeviceInfo::kind of all of them.
  /// The devices, numbered from 0; the same at every call.
  std::function<std::vector<SourceDevice>()> list;
  /// Opens one; the same device while it is in use.
  std::function<Result<std::shared_ptr<Device>>(int number)> open;
};

/// Offers devices from now on.  kFailedPrecondition where there is a source of
/// this kind, host and opencl included.  Any thread, as below.
Status AddDeviceSource(DeviceSource source);
/// Ends it; false where there is none.  Devices that are open stay.
bool RemoveDeviceSource(const std::string& kind);
std::optional<DeviceSource> FindDeviceSource(const std::string& kind);
/// All of them, in the order in which they were added.
std::vector<DeviceSource> DeviceSources();

}  // namespace tim::device

#endif  // TIM_DEVICE_DEVICE_SOURCES_H_
