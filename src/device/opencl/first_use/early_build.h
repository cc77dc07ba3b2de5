// Building a kernel for its work-groups before it is launched.
//
// PoCL 3.1 builds a kernel for its local sizes when their first launch has its
// turn, and only then looks how many work-groups it has: at their number modulo
// 2^64.  A launch of 2^64 groups is therefore built, and nothing of it is run.
// Earlier and later versions look at other things or in another order, so that
// no other driver is given such a launch; those that build kernels with their
// program need none.
#ifndef TIM_DEVICE_OPENCL_FIRST_USE_EARLY_BUILD_H_
#define TIM_DEVICE_OPENCL_FIRST_USE_EARLY_BUILD_H_

#include <array>
#include <cstdint>
#include <optional>

#include "device/opencl/driver/cl_api.h"

namespace tim::device {

struct WorkSizes {
  cl::NDRange global;
  cl::NDRange local;
};

/// Whether the driver of the device builds what EmptyLaunch() gives, and runs
/// nothing of it.
bool BuildsEmptyLaunches(const cl::Device& device);

/// The launch that makes such a driver build a kernel for launches of these
/// sizes: at least 1 each, `local` divides `global`.  None where there is none.
std::optional<WorkSizes> EmptyLaunch(const std::array<int64_t, 3>& global,
                                     const std::array<int64_t, 3>& local);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_FIRST_USE_EARLY_BUILD_H_
