// The memory behind an image parameter of a user's kernel, laid out as
// kernels/custom_images.cl reads it.
#ifndef TIM_DEVICE_OPENCL_IMAGE_STAGING_H_
#define TIM_DEVICE_OPENCL_IMAGE_STAGING_H_

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "device/device.h"
#include "device/opencl/cl_api.h"
#include "device/opencl/kernel_parameter.h"
#include "ir/step.h"

namespace tim::device {

/// Whether an image of that kind can show `tensor`; `kind` is not kNone.
Status CheckImage(ImageKind kind, const ir::UserTensorArg& tensor);

/// Of one parameter of one prepared step: two runs must not share it.
class ImageStaging {
 public:
  /// For what CheckImage accepts.
  static Result<ImageStaging> Create(const cl::Context& context,
                                     const ir::DeviceInfo& device,
                                     const ir::UserTensorArg& tensor);

  const cl::Buffer& handle() const { return handle_; }
  int operand() const { return operand_; }

  /// Before the kernel: the header on first use, and an operand that is read.
  /// What is written has no content yet that the kernel may ask for, so it is
  /// not copied in.
  Status Fill(const cl::CommandQueue& queue, const BufferRange& operand);
  /// After the kernel: an operand that is written.
  Status Drain(const cl::CommandQueue& queue, const BufferRange& operand) const;

 private:
  /// As in custom_images.cl.
  struct Header {
    cl_int width = 1;
    cl_int height = 1;
    cl_int layers = 1;
    cl_int type = 0;
  };

  cl::Buffer handle_;
  Header header_;
  bool has_header_ = false;
  int operand_ = 0;
  bool written_ = false;
  int64_t bytes_ = 0;  ///< Of the elements.
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_IMAGE_STAGING_H_
