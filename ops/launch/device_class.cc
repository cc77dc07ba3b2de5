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

Status CheckWorkGroup(const ir::DeviceInfo& device,
                      std::initializer_list<int64_t> extents,
                      int64_t local_bytes) {
  int64_t items = 1;
  bool fits = true;
  size_t axis = 0;
  for (const int64_t extent : extents) {
    items *= extent;
    fits = fits && extent <= device.max_work_item_sizes[axis++];
  }
  if (!fits || items > device.max_work_group_size) {
    return Unimplemented("needs work-groups of ", StrJoin(extents, " x "),
                         " items, the device has ", device.max_work_group_size,
                         ", at most ",
                         StrJoin(device.max_work_item_sizes, " x "));
  }
  if (local_bytes > device.local_memory_bytes) {
    return Unimplemented("needs ", local_bytes,
                         " bytes of local memory, the device has ",
                         device.local_memory_bytes);
  }
  return OkStatus();
}

}  // namespace tim::ops
