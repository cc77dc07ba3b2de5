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

/// One buffer per constant; equal ids on one device share theirs.  The host's
/// constants are used in place: `plan` must outlive the buffers.
Result<std::vector<std::shared_ptr<device::Buffer>>> UploadConstants(
    const ir::Plan& plan,
    std::span<const std::shared_ptr<device::Device>> devices);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_CONSTANT_UPLOAD_H_
