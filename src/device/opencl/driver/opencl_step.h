// A step of an OpenCL device made ready: launches or a matrix product.
#ifndef TIM_DEVICE_OPENCL_DRIVER_OPENCL_STEP_H_
#define TIM_DEVICE_OPENCL_DRIVER_OPENCL_STEP_H_

#include <span>

#include "base/status.h"
#include "device/device.h"
#include "device/opencl/driver/opencl_queue.h"

namespace tim::device {

class OpenClStep : public PreparedStep {
 public:
  virtual Status Enqueue(OpenClQueue& queue,
                         std::span<const BufferRange> operands) = 0;
  /// As Stream::Build.
  virtual Status Build(OpenClQueue&, std::span<const BufferRange>) {
    return OkStatus();
  }
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_DRIVER_OPENCL_STEP_H_
