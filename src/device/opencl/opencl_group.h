// OpenCL devices, and parts of them, that work on the same graphs.
#ifndef TIM_DEVICE_OPENCL_OPENCL_GROUP_H_
#define TIM_DEVICE_OPENCL_OPENCL_GROUP_H_

#include <memory>
#include <span>
#include <vector>

#include "base/options.h"
#include "base/status.h"
#include "device/device.h"

namespace tim::device {

/// The way in which a device is divided into sub-devices.
struct OpenClDivision {
  int parts = 0;           ///< Parts of equal size; 0: it is not divided.
  bool by_memory = false;  ///< One per memory domain, whatever `parts`.
  bool whole() const { return parts == 0 && !by_memory; }
};

/// A device or one of its parts.
struct OpenClPart {
  int device = 0;  ///< Its number, as of CreateOpenClDevice().
  OpenClDivision division = {};
  int part = 0;
};

/// The number of parts.  kInvalidArgument and kUnimplemented where the
/// device does not exist or cannot be divided so.
Result<int> CountOpenClParts(int device, const OpenClDivision& division);

/// A device per part, in their order.  Those of one platform share a context,
/// and so events and memory.  Threads of drivers do not stay awake for the next
/// run: another device may need them.
Result<std::vector<std::shared_ptr<Device>>> CreateOpenClGroup(
    std::span<const OpenClPart> parts, const DeviceOptions& options);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_OPENCL_GROUP_H_
