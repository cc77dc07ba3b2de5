// The operands of a user's kernel, as pointers and as images.
#ifndef TIM_DEVICE_OPENCL_USER_USER_ARGUMENTS_H_
#define TIM_DEVICE_OPENCL_USER_USER_ARGUMENTS_H_

#include <span>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/driver/opencl_queue.h"
#include "device/opencl/kernel/kernel_parameter.h"
#include "device/opencl/user/operand_staging.h"
#include "ir/step.h"

namespace tim::device {

/// Sets the parameter of an absent tensor: a null pointer, or an image of one
/// texel of 0, which `images` must keep as long as the kernel.
Status SetAbsent(cl::Kernel& kernel, int index,
                 const KernelParameter& parameter,
                 std::vector<cl::Buffer>* images);

class UserArguments {
 public:
  /// Checks the signature and sets all that does not depend on the operands.
  static Result<UserArguments> Create(cl::Kernel& kernel,
                                      const ir::DeviceInfo& device,
                                      const ir::UserLaunch& launch);

  /// Before each launch of `kernel`, and after it, in the same queue.
  Status Bind(cl::Kernel& kernel, OpenClQueue& queue,
              std::span<const BufferRange> operands);
  Status Finish(OpenClQueue& queue,
                std::span<const BufferRange> operands) const;

 private:
  struct Pointer {
    int parameter = 0;
    int operand = 0;
  };

  Status Add(cl::Kernel& kernel, const ir::DeviceInfo& device, int index,
             const KernelParameter& parameter, const ir::UserLaunch& launch,
             const ir::UserTensorArg& tensor);

  std::vector<int> zeroed_;  // operands
  std::vector<cl::Buffer> empty_images_;
  std::vector<Pointer> pointers_;
  std::vector<OperandStaging> staged_;
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_USER_USER_ARGUMENTS_H_
