// A kernel launch made ready: its own kernel object, constant arguments set.
#ifndef TIM_DEVICE_OPENCL_LAUNCH_KERNEL_STEP_H_
#define TIM_DEVICE_OPENCL_LAUNCH_KERNEL_STEP_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/status.h"
#include "device/device.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/driver/opencl_buffer.h"
#include "device/opencl/driver/opencl_step.h"
#include "device/opencl/first_use/launch_sizes.h"
#include "device/opencl/guard/guarded_contents.h"
#include "device/opencl/user/user_arguments.h"
#include "ir/step.h"

namespace tim::device {

class KernelStep final : public OpenClStep {
 public:
  /// Checks signature and work sizes against program and device.
  static Result<std::unique_ptr<PreparedStep>> Create(
      const cl::Program& program, const cl::Device& device,
      const ir::DeviceInfo& info, const ir::KernelLaunch& launch);

  /// The same for a user's kernel, which is guarded where the options say so.
  /// \param uncounted_local_bytes of memory that the driver does not report.
  /// \param guards of the steps that are prepared together, in their order.
  static Result<std::unique_ptr<PreparedStep>> Create(
      const cl::Program& program, const cl::Device& device,
      const ir::DeviceInfo& info, const DeviceOptions& options,
      const ir::UserLaunch& launch, int64_t uncounted_local_bytes,
      GuardedContents* guards);

  Status Enqueue(OpenClQueue& queue,
                 std::span<const BufferRange> operands) override;
  Status Build(OpenClQueue& queue,
               std::span<const BufferRange> operands) override;

 private:
  // A tensor of a built-in kernel, and what it was last set to.
  struct Tensor {
    int parameter = 0;
    ir::TensorArg argument;
    uint64_t buffer_id = 0;
    int64_t offset = -1;
  };

  KernelStep(cl::Kernel kernel, std::string function, LaunchSizes sizes)
      : kernel_(std::move(kernel)),
        function_(std::move(function)),
        sizes_(std::move(sizes)) {}

  Status CheckArguments(const ir::KernelLaunch& launch) const;
  Status SetFixedArguments(const ir::KernelLaunch& launch);
  Status Bind(OpenClQueue& queue, std::span<const BufferRange> operands);
  Status SetTensor(Tensor& tensor, const BufferRange& range);
  Status Launch(OpenClQueue& queue);
  Status SetBufferAndOffset(const Tensor& tensor, const OpenClRange& place,
                            int64_t bytes);

  cl::Kernel kernel_;
  std::string function_;
  LaunchSizes sizes_;
  size_t operands_ = 0;    ///< Least number of operands.
  int64_t alignment_ = 1;  ///< Of buffers that begin in others.
  std::vector<Tensor> tensors_;
  UserArguments user_;
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_LAUNCH_KERNEL_STEP_H_
