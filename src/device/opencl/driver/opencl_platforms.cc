#include "device/opencl/driver/opencl_platforms.h"

#include "base/log.h"
#include "device/opencl/driver/cl_status.h"

namespace tim::device {
namespace {

constexpr char kInstall[] =
    "install the driver of your device; for CPUs it is the package "
    "pocl-opencl-icd on Debian and Ubuntu";

void AddDevices(const cl::Platform& platform,
                std::vector<OpenClDeviceId>* found) {
  std::vector<cl::Device> devices;
  const int code = platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
  if (code != CL_SUCCESS) {
    TIM_LOG(kDebug, "OpenCL platform '", platform.getInfo<CL_PLATFORM_NAME>(),
            "' has no devices: ", ClErrorName(code));
    return;
  }
  for (cl::Device& device : devices) {
    if (device.getInfo<CL_DEVICE_AVAILABLE>() == CL_TRUE &&
        device.getInfo<CL_DEVICE_COMPILER_AVAILABLE>() == CL_TRUE) {
      found->push_back({platform, std::move(device)});
    }
  }
}

}  // namespace

Result<std::vector<OpenClDeviceId>> EnumerateOpenClDevices() {
  std::vector<cl::Platform> platforms;
  const int code = cl::Platform::get(&platforms);
  if (platforms.empty()) {
    return NotFound("no OpenCL platform (",
                    code == CL_SUCCESS ? "none" : ClErrorName(code), "); ",
                    kInstall);
  }
  std::vector<OpenClDeviceId> found;
  for (const cl::Platform& platform : platforms) AddDevices(platform, &found);
  if (found.empty()) {
    return NotFound("none of ", platforms.size(),
                    " OpenCL platforms has a device; ", kInstall);
  }
  return found;
}

}  // namespace tim::device
