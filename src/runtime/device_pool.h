// Which devices graphs use.
#ifndef TIM_RUNTIME_DEVICE_POOL_H_
#define TIM_RUNTIME_DEVICE_POOL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/status.h"
#include "device/device.h"
#include "device/opencl/opencl_device.h"

namespace tim::runtime {

using device::Devices;

/// The devices for TIMCL_DEVICE = `wanted`, a list as of OpenDevices() ("" =
/// unset); the first is the host.  All calls of the process share devices, and
/// equal parts of devices, for as long as any is in use: as the first of them
/// made it, but for `options.guard`, with which they are devices of their own.
/// Any thread.
Result<Devices> SelectDevices(const std::string& wanted,
                              const DeviceOptions& options = {});

/// The host, and a whole OpenCL device by its number, as SelectDevices() shares
/// them.
Result<std::shared_ptr<device::Device>> ShareHost(const DeviceOptions& options);
Result<std::shared_ptr<device::Device>> ShareOpenCl(
    int number, const DeviceOptions& options);

/// The device is lost: all calls open it anew, and who has it keeps it.
void ForgetDevice(const device::Device& device);

/// What platform::IDevice::Enumerate() and CompileOption::setDeviceId() number:
/// every OpenCL device in the loader's order, then the host, and behind it the
/// devices of plug-ins.
struct ListedDevice {
  std::string name;  ///< "opencl: <name>" or "host".
  std::string spec;  ///< "opencl:0", as OpenDevices() takes it.
  int cores = 1;
};
std::vector<ListedDevice> ListDevices();

/// As SelectDevices(), of these cores of the device of this number.  Where
/// TIMCL_DEVICE = `wanted` is set, it names the device, and another one's
/// `number` and `cores` do not matter.
Result<Devices> SelectListedDevice(uint32_t number, device::CoreRange cores,
                                   const std::string& wanted,
                                   const DeviceOptions& options = {});

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_DEVICE_POOL_H_
