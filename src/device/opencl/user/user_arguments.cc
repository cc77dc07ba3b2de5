#include "device/opencl/user/user_arguments.h"

#include <optional>
#include <utility>
#include <variant>

#include "base/log_once.h"
#include "device/opencl/driver/cl_status.h"
#include "device/opencl/driver/opencl_buffer.h"
#include "device/opencl/user/image_header.h"
#include "device/opencl/user/kernel_parameter.h"
#include "device/opencl/user/user_signature.h"

namespace tim::device {
namespace {

// Images have a layout of their own.  What a kernel may write but must not
// (constants, what other steps read) it gets as a copy.
bool WorksInPlace(const KernelParameter& parameter,
                  const ir::UserTensorArg& tensor) {
  return ImageKindOf(parameter) == ImageKind::kNone &&
         (tensor.written || parameter.points_to_const);
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

Result<UserArguments> UserArguments::Create(cl::Kernel& kernel,
                                            const ir::DeviceInfo& device,
                                            const ir::KernelLaunch& launch) {
  TIM_RETURN_IF_ERROR(CheckUserSignature(kernel, launch));
  const std::vector<KernelParameter> parameters = ParametersOf(kernel);
  UserArguments arguments;
  for (int i = 0; i < static_cast<int>(parameters.size()); ++i) {
    const auto* tensor = std::get_if<ir::UserTensorArg>(&launch.arguments[i]);
    if (tensor == nullptr) continue;
    if (WorksInPlace(parameters[i], *tensor)) {
      arguments.pointers_.push_back(
          {.parameter = i, .operand = tensor->operand});
      continue;
    }
    if (ImageKindOf(parameters[i]) == ImageKind::kNone) {
      TIM_LOG_ONCE(kInfo, launch.name, ": kernel '", launch.function,
                   "' gets a copy of ", tensor->name, " on each run, as '",
                   parameters[i].ToString(), "' is not const");
    }
    TIM_ASSIGN_OR_RETURN(OperandStaging staging,
                         Stage(kernel, device, parameters[i], *tensor));
    TIM_RETURN_IF_CL_ERROR(kernel.setArg(i, staging.handle()), "kernel '",
                           launch.function, "', parameter ", i);
    arguments.staged_.push_back(std::move(staging));
  }
  return arguments;
}

Status UserArguments::Bind(cl::Kernel& kernel, OpenClQueue& queue,
                           std::span<const BufferRange> operands) {
  for (const Pointer& pointer : pointers_) {
    const BufferRange& range = operands[pointer.operand];
    TIM_ASSIGN_OR_RETURN(OpenClBuffer * buffer, AsOpenCl(range));
    TIM_ASSIGN_OR_RETURN(const cl::Buffer view,
                         buffer->View(range.offset, range.bytes));
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
