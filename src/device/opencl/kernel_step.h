// A kernel launch made ready: its own kernel object, constant arguments set.
#ifndef TIM_DEVICE_OPENCL_KERNEL_STEP_H_
#define TIM_DEVICE_OPENCL_KERNEL_STEP_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "device/opencl/cl_api.h"
#include "device/opencl/opencl_buffer.h"
#include "ir/step.h"

namespace tim::device {

class KernelStep final : public PreparedStep {
 public:
  /// Checks signature and work sizes against program and device.
  static Result<std::unique_ptr<PreparedStep>> Create(
      const cl::Program& program, const cl::Device& device,
      const ir::DeviceInfo& info, const ir::KernelLaunch& launch);

  Status Enqueue(const cl::CommandQueue& queue,
                 std::span<const BufferRange> operands);

 private:
  // A parameter that depends on the operands, and what it was last set to.
  struct Tensor {
    int parameter = 0;
    ir::TensorArg argument;
    uint64_t buffer_id = 0;
    int64_t offset = -1;
    int64_t bytes = -1;
  };

  KernelStep(cl::Kernel kernel, const ir::KernelLaunch& launch);

  Status SetFixedArguments(const ir::KernelLaunch& launch);
  Status SetTensor(Tensor& tensor, const BufferRange& range);
  Status SetBufferAndOffset(const Tensor& tensor, const OpenClBuffer& buffer,
                            int64_t offset);
  Status SetPointer(const Tensor& tensor, OpenClBuffer& buffer,
                    const BufferRange& range);

  cl::Kernel kernel_;
  std::string function_;
  cl::NDRange global_;
  cl::NDRange local_;
  std::vector<Tensor> tensors_;
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_KERNEL_STEP_H_
