// Local sizes for launches that leave them open.
#ifndef TIM_DEVICE_OPENCL_FIRST_USE_GROUP_SIZES_H_
#define TIM_DEVICE_OPENCL_FIRST_USE_GROUP_SIZES_H_

#include <array>
#include <cstdint>

#include "ir/device_info.h"

namespace tim::device {

/// Those that PoCL 3.1 takes for a launch of `global` work-items, at least 1 in
/// each dimension: groups as large as the device allows, of whole multiples of
/// `preferred` where the sizes have them, and one for each core (of a part of a
/// device PoCL counts the cores of the whole).
/// \param preferred CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE.
std::array<int64_t, 3> PoclLocalSizes(const std::array<int64_t, 3>& global,
                                      const ir::DeviceInfo& device,
                                      int64_t preferred);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_FIRST_USE_GROUP_SIZES_H_
