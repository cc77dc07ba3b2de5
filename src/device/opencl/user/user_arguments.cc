#include "device/opencl/user/user_arguments.h"

#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>

#include "base/log_once.h"
#include "device/opencl/driver/cl_status.h"
#include "device/opencl/driver/fill.h"
#include "device/opencl/driver/opencl_buffer.h"
#include "device/opencl/user/image_header.h"
#include "device/opencl/user/user_signature.h"

namespace tim::device {
namespace {

// What a kernel may write but must not: constants, what other steps read.
bool IsProtected(const KernelParameter& parameter,
                 const ir::UserTensorArg& tensor) {
  return !tensor.written && !parameter.points_to_const;
}

Result<OperandStaging> Stage(const cl::Kernel& kernel,
                             const ir::DeviceInfo& device,
                             const KernelParameter& parameter,
                             const ir::UserTensorArg& tensor) {
  std::optional<ImageHeader> header;
  if (ImageKindOf(parameter) != ImageKind::kNone) {
    TIM_ASSIGN_OR_RETURN(header, ImageHeaderOf(tensor));
  }
  return OperandStaging::Create(kernel.getInfo<CL_KERNEL_CONTEXT>(), device,
                                tensor, header);
}

}  // namespace

Status SetAbsent(cl::Kernel& kernel, int index,
                 const KernelParameter& parameter,
                 std::vector<cl::Buffer>* images) {
  int code = CL_SUCCESS;
  if (ImageKindOf(parameter) == ImageKind::kNone) {
    code = kernel.setArg(index, sizeof(cl_mem), nullptr);
  } else {
    std::array<std::byte, kImageHeaderBytes + sizeof(cl_long)> image = {};
    const ImageHeader header;
    std::memcpy(image.data(), &header, sizeof(header));
    images->emplace_back(kernel.getInfo<CL_KERNEL_CONTEXT>(),
                         CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, image.size(),
                         image.data(), &code);
    if (code == CL_SUCCESS) code = kernel.setArg(index, images->back());
  }
  TIM_RETURN_IF_CL_ERROR(code, "parameter ", index, ", which is absent");
  return OkStatus();
}

Result<UserArguments> UserArguments::Create(cl::Kernel& kernel,
                                            const ir::DeviceInfo& device,
                                            const ir::UserLaunch& launch) {
  TIM_RETURN_IF_ERROR(CheckUserSignature(kernel, launch));
  const std::vector<KernelParameter> parameters = ParametersOf(kernel);
  UserArguments arguments;
  for (int i = 0; i < static_cast<int>(parameters.size()); ++i) {
    const auto* tensor = std::get_if<ir::UserTensorArg>(&launch.arguments[i]);
    if (tensor == nullptr) continue;
    TIM_RETURN_IF_ERROR(
        arguments.Add(kernel, device, i, parameters[i], launch, *tensor));
  }
  return arguments;
}

Status UserArguments::Add(cl::Kernel& kernel, const ir::DeviceInfo& device,
                          int index, const KernelParameter& parameter,
                          const ir::UserLaunch& launch,
                          const ir::UserTensorArg& tensor) {
  if (tensor.operand == ir::kAbsentOperand) {
    return SetAbsent(kernel, index, parameter, &empty_images_);
  }
  if (tensor.zeroed) zeroed_.push_back(tensor.operand);
  // Images have a layout of their own, and pointers point to sub-buffers.
  const bool image = ImageKindOf(parameter) != ImageKind::kNone;
  const bool copied = IsProtected(parameter, tensor);
  if (!image && !copied && HasSubBuffers(device)) {
    pointers_.push_back({.parameter = index, .operand = tensor.operand});
    return OkStatus();
  }
  if (!image && copied) {
    TIM_LOG_ONCE(kInfo, launch.name, ": kernel '", launch.function,
                 "' gets a copy of ", tensor.name, " on each run, as '",
                 parameter.ToString(), "' is not const");
  }
  ir::UserTensorArg staged = tensor;
  // The copy begins with the operand's content: a kernel may write a part of
  // it.
  if (!image) staged.kept = true;
  TIM_ASSIGN_OR_RETURN(OperandStaging staging,
                       Stage(kernel, device, parameter, staged));
  TIM_RETURN_IF_CL_ERROR(kernel.setArg(index, staging.handle()), "kernel '",
                         launch.function, "', parameter ", index);
  staged_.push_back(std::move(staging));
  return OkStatus();
}

Status UserArguments::Bind(cl::Kernel& kernel, OpenClQueue& queue,
                           std::span<const BufferRange> operands) {
  for (const int operand : zeroed_) {
    TIM_RETURN_IF_ERROR(FillBytes(queue, operands[operand], 0));
  }
  for (const Pointer& pointer : pointers_) {
    const BufferRange& range = operands[pointer.operand];
    TIM_ASSIGN_OR_RETURN(const OpenClRange place, AsOpenCl(range));
    TIM_ASSIGN_OR_RETURN(const cl::Buffer view,
                         place.buffer->SubBuffer(range.offset, range.bytes));
    TIM_RETURN_IF_CL_ERROR(kernel.setArg(pointer.parameter, view),
                           "pointer parameter ", pointer.parameter);
  }
  for (OperandStaging& staging : staged_) {
    TIM_RETURN_IF_ERROR(staging.Fill(queue, operands[staging.operand()]));
  }
  return OkStatus();
}

Status UserArguments::Finish(OpenClQueue& queue,
                             std::span<const BufferRange> operands) const {
  for (const OperandStaging& staging : staged_) {
    TIM_RETURN_IF_ERROR(staging.Drain(queue, operands[staging.operand()]));
  }
  return OkStatus();
}

}  // namespace tim::device
