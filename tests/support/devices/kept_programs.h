// Which drivers need no cache of programs.
#ifndef TIM_TESTS_SUPPORT_DEVICES_KEPT_PROGRAMS_H_
#define TIM_TESTS_SUPPORT_DEVICES_KEPT_PROGRAMS_H_

#include "device/device.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/driver/opencl_info.h"

namespace tim::testing {

/// Whether the driver of an OpenCL device keeps programs by itself, so that
/// none is stored.
inline bool DriverKeepsPrograms(const device::Device& device) {
  return device::KeepsPrograms(cl::Device(
      static_cast<cl_device_id>(device.NativeHandle("cl_device_id")), true));
}

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_DEVICES_KEPT_PROGRAMS_H_
