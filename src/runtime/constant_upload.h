// Constants of a plan in the memory of their devices.
#ifndef TIM_RUNTIME_CONSTANT_UPLOAD_H_
#define TIM_RUNTIME_CONSTANT_UPLOAD_H_

#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "ir/plan.h"

namespace tim::runtime {

/// One buffer per block.  Blocks that a device can read in place are imported:
/// `plan` must outlive the buffers.  Of others the plan keeps no content.
Result<std::vector<std::unique_ptr<device::Buffer>>> UploadConstants(
    ir::Plan* plan, std::span<const std::shared_ptr<device::Device>> devices);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_CONSTANT_UPLOAD_H_
