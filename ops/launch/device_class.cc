#include "ops/launch/device_class.h"

namespace tim::ops {

Status CheckCpu(const ir::DeviceInfo& device) {
  if (device.device_class == ir::DeviceClass::kCpu) return OkStatus();
  return Unimplemented("for CPU devices; this one takes kernels of class ",
                       ToString(device.device_class));
}

Status CheckNoCpu(const ir::DeviceInfo& device) {
  if (device.device_class != ir::DeviceClass::kCpu) return OkStatus();
  return Unimplemented("for GPU devices; this one takes kernels of class cpu");
}

}  // namespace tim::ops
