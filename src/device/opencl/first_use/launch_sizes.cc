// Chooses the sizes that a kernel is launched with, so that it can be built for
// them before.
#include "device/opencl/first_use/launch_sizes.h"

#include <algorithm>

#include "base/log.h"
#include "device/opencl/driver/cl_status.h"
#include "device/opencl/first_use/group_sizes.h"

namespace tim::device {
namespace {

using Sizes = std::array<int64_t, 3>;

cl::NDRange Range(const Sizes& sizes, int dimensions) {
  switch (dimensions) {
    case 1:
      return cl::NDRange(sizes[0]);
    case 2:
      return cl::NDRange(sizes[0], sizes[1]);
    default:
      return cl::NDRange(sizes[0], sizes[1], sizes[2]);
  }
}

Sizes InThreeDimensions(Sizes sizes, int dimensions) {
  std::fill(sizes.begin() + dimensions, sizes.end(), 1);
  return sizes;
}

WorkSizes RunSizes(const ir::NdRange& range, const Sizes& local) {
  return {
      .global = Range(range.global, range.dimensions),
      .local = local[0] > 0 ? Range(local, range.dimensions) : cl::NullRange};
}

}  // namespace

LaunchSizes SizesOf(const ir::KernelLaunch& launch,
                    const KernelLimits& limits) {
  return {.run = RunSizes(launch.range, LocalSizes(launch.range, limits)),
          .build = std::nullopt};
}

LaunchSizes SizesOf(const ir::UserLaunch& launch, const KernelLimits& limits,
                    const cl::Kernel& kernel, const cl::Device& device,
                    const ir::DeviceInfo& info) {
  LaunchSizes sizes;
  const ir::NdRange& range = launch.range;
  Sizes local = LocalSizes(range, limits);
  if (BuildsEmptyLaunches(device)) {
    const Sizes global = InThreeDimensions(range.global, range.dimensions);
    // What is built before must be what is launched.
    if (local[0] == 0) {
      local = PoclLocalSizes(
          global, info,
          static_cast<int64_t>(
              kernel.getWorkGroupInfo<
                  CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE>(device)));
    }
    sizes.build =
        EmptyLaunch(global, InThreeDimensions(local, range.dimensions));
  }
  sizes.run = RunSizes(range, local);
  return sizes;
}

void BuildKernel(OpenClQueue& queue, const cl::Kernel& kernel,
                 const LaunchSizes& sizes, const std::string& function) {
  if (!sizes.build) return;
  const int code =
      queue.Launch(kernel, sizes.build->global, sizes.build->local);
  if (code == CL_SUCCESS) return;
  TIM_LOG(kDebug, "kernel '", function,
          "' is built by its first run: ", ClErrorName(code));
}

}  // namespace tim::device
