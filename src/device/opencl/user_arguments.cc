#include "device/opencl/user_arguments.h"

#include <variant>

#include "device/opencl/cl_status.h"
#include "device/opencl/kernel_parameter.h"
#include "device/opencl/opencl_buffer.h"
#include "device/opencl/user_signature.h"

namespace tim::device {

Result<UserArguments> UserArguments::Create(cl::Kernel& kernel,
                                            const ir::DeviceInfo& device,
                                            const ir::KernelLaunch& launch) {
  TIM_RETURN_IF_ERROR(CheckUserSignature(kernel, launch));
  const std::vector<KernelParameter> parameters = ParametersOf(kernel);
  UserArguments arguments;
  for (int i = 0; i < static_cast<int>(parameters.size()); ++i) {
    const auto* tensor = std::get_if<ir::UserTensorArg>(&launch.arguments[i]);
    if (tensor == nullptr) continue;
    if (ImageKindOf(parameters[i]) == ImageKind::kNone) {
      arguments.pointers_.push_back(
          {.parameter = i, .operand = tensor->operand});
      continue;
    }
    TIM_ASSIGN_OR_RETURN(
        const ImageStaging image,
        ImageStaging::Create(kernel.getInfo<CL_KERNEL_CONTEXT>(), device,
                             *tensor));
    TIM_RETURN_IF_CL_ERROR(kernel.setArg(i, image.handle()), "kernel '",
                           launch.function, "', image parameter ", i);
    arguments.images_.push_back(image);
  }
  return arguments;
}

Status UserArguments::Bind(cl::Kernel& kernel, const cl::CommandQueue& queue,
                           std::span<const BufferRange> operands) {
  for (const Pointer& pointer : pointers_) {
    const BufferRange& range = operands[pointer.operand];
    TIM_ASSIGN_OR_RETURN(OpenClBuffer * buffer, AsOpenCl(range));
    TIM_ASSIGN_OR_RETURN(const cl::Buffer view,
                         buffer->View(range.offset, range.bytes));
    TIM_RETURN_IF_CL_ERROR(kernel.setArg(pointer.parameter, view),
                           "pointer parameter ", pointer.parameter);
  }
  for (ImageStaging& image : images_) {
    TIM_RETURN_IF_ERROR(image.Fill(queue, operands[image.operand()]));
  }
  return OkStatus();
}

Status UserArguments::Finish(const cl::CommandQueue& queue,
                             std::span<const BufferRange> operands) const {
  for (const ImageStaging& image : images_) {
    TIM_RETURN_IF_ERROR(image.Drain(queue, operands[image.operand()]));
  }
  return OkStatus();
}

}  // namespace tim::device
