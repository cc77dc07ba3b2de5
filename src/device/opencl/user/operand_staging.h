// A kernel step's own memory for an operand of a user's kernel.
#ifndef TIM_DEVICE_OPENCL_USER_OPERAND_STAGING_H_
#define TIM_DEVICE_OPENCL_USER_OPERAND_STAGING_H_

#include <cstdint>
#include <optional>

#include "base/memory_count.h"
#include "base/status.h"
#include "device/device.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/driver/opencl_queue.h"
#include "device/opencl/user/image_header.h"
#include "ir/step.h"

namespace tim::device {

/// Of one parameter of one prepared step: two runs must not share it.
class OperandStaging {
 public:
  /// With a header, memory as kernels/custom_images.cl reads it.
  static Result<OperandStaging> Create(const cl::Context& context,
                                       const ir::DeviceInfo& device,
                                       const ir::UserTensorArg& tensor,
                                       std::optional<ImageHeader> header);

  const cl::Buffer& handle() const { return handle_; }
  int operand() const { return operand_; }

  /// Before the kernel: the header on first use, and an operand that is read
  /// or kept.  What else is written has no content yet that the kernel may ask
  /// for, so it is not copied in.
  Status Fill(OpenClQueue& queue, const BufferRange& operand);
  /// After the kernel: an operand that is written.
  Status Drain(OpenClQueue& queue, const BufferRange& operand) const;

 private:
  int64_t HeaderBytes() const { return header_ ? kImageHeaderBytes : 0; }

  cl::Buffer handle_;
  CountedBytes counted_;
  std::optional<ImageHeader> header_;
  bool has_header_ = false;  ///< In memory.
  int operand_ = 0;
  bool filled_ = false;
  bool written_ = false;
  int64_t bytes_ = 0;  ///< Of the elements.
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_USER_OPERAND_STAGING_H_
