// The work sizes of a launch, and those that build its kernel before.
#ifndef TIM_DEVICE_OPENCL_FIRST_USE_LAUNCH_SIZES_H_
#define TIM_DEVICE_OPENCL_FIRST_USE_LAUNCH_SIZES_H_

#include <optional>
#include <string>

#include "device/launch_check.h"
#include "device/opencl/driver/opencl_queue.h"
#include "device/opencl/first_use/early_build.h"
#include "ir/device_info.h"
#include "ir/step.h"

namespace tim::device {

struct LaunchSizes {
  WorkSizes run;
  /// Of a user's kernel, which nothing may run before Run(); where the driver
  /// has a way to build it without.
  std::optional<WorkSizes> build;
};

/// Of a launch that CheckLimits() accepts.
LaunchSizes SizesOf(const ir::KernelLaunch& launch, const KernelLimits& limits);
LaunchSizes SizesOf(const ir::UserLaunch& launch, const KernelLimits& limits,
                    const cl::Kernel& kernel, const cl::Device& device,
                    const ir::DeviceInfo& info);

/// Has the driver build `kernel`, all of whose arguments are set, in the queue.
/// A failure is told of by the first run, which builds it then.
void BuildKernel(OpenClQueue& queue, const cl::Kernel& kernel,
                 const LaunchSizes& sizes, const std::string& function);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_FIRST_USE_LAUNCH_SIZES_H_
