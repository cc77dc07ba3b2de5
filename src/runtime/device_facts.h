// Facts about the devices of this machine.
#ifndef TIM_RUNTIME_DEVICE_FACTS_H_
#define TIM_RUNTIME_DEVICE_FACTS_H_

#include <string>
#include <vector>

#include "base/options.h"
#include "ir/device_info.h"

namespace tim::runtime {

struct DeviceFacts {
  std::string spec;  ///< "opencl:0"
  ir::DeviceInfo info;
  int score = 0;       ///< The higher the better; 0: it is not usable.
  std::string reason;  ///< Why it is not.
};

/// Every device, in the order of ListDevices().  Opens those of OpenCL.  Any
/// thread, as below.
std::vector<DeviceFacts> AllDeviceFacts(const DeviceOptions& options = {});

/// The usable device of the highest score, of equal ones the first.
std::string BestDevice();
/// All usable devices.
std::vector<std::string> UsableDevices();

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_DEVICE_FACTS_H_
