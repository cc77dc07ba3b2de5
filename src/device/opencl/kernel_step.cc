#include "device/opencl/kernel_step.h"

#include <limits>
#include <utility>
#include <variant>

#include "device/launch_check.h"
#include "device/opencl/cl_status.h"
#include "device/opencl/kernel_signature.h"

namespace tim::device {
namespace {

cl::NDRange Range(const std::array<int64_t, 3>& sizes, int dimensions) {
  switch (dimensions) {
    case 1:
      return cl::NDRange(sizes[0]);
    case 2:
      return cl::NDRange(sizes[0], sizes[1]);
    default:
      return cl::NDRange(sizes[0], sizes[1], sizes[2]);
  }
}

KernelLimits LimitsOf(const cl::Kernel& kernel, const cl::Device& device) {
  KernelLimits limits;
  limits.work_group_size =
      kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device);
  const auto required =
      kernel.getWorkGroupInfo<CL_KERNEL_COMPILE_WORK_GROUP_SIZE>(device);
  for (int i = 0; i < 3; ++i) limits.required_local[i] = required[i];
  return limits;
}

Result<cl::Kernel> MakeKernel(const cl::Program& program,
                              const std::string& function) {
  int code = CL_SUCCESS;
  cl::Kernel kernel(program, function.c_str(), &code);
  if (code == CL_INVALID_KERNEL_NAME) {
    return InvalidArgument(
        "the program has no kernel '", function,
        "'; it has: ", program.getInfo<CL_PROGRAM_KERNEL_NAMES>());
  }
  TIM_RETURN_IF_CL_ERROR(code, "kernel '", function, "'");
  return kernel;
}

}  // namespace

KernelStep::KernelStep(cl::Kernel kernel, const ir::KernelLaunch& launch)
    : kernel_(std::move(kernel)),
      function_(launch.function),
      global_(Range(launch.global, launch.dimensions)),
      local_(cl::NullRange) {
  if (launch.local[0] > 0) local_ = Range(launch.local, launch.dimensions);
}

Result<std::unique_ptr<PreparedStep>> KernelStep::Create(
    const cl::Program& program, const cl::Device& device,
    const ir::DeviceInfo& info, const ir::KernelLaunch& launch) {
  TIM_ASSIGN_OR_RETURN(cl::Kernel kernel, MakeKernel(program, launch.function));
  TIM_RETURN_IF_ERROR(CheckSignature(kernel, launch));
  TIM_RETURN_IF_ERROR(CheckWorkSizes(launch, info, LimitsOf(kernel, device)));
  TIM_RETURN_IF_ERROR(CheckLocalMemory(launch, info));
  std::unique_ptr<KernelStep> step(new KernelStep(std::move(kernel), launch));
  TIM_RETURN_IF_ERROR(step->SetFixedArguments(launch));
  return std::unique_ptr<PreparedStep>(std::move(step));
}

Status KernelStep::SetFixedArguments(const ir::KernelLaunch& launch) {
  int parameter = 0;
  const auto set = [&](const auto& value) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, ir::TensorArg>) {
      tensors_.push_back({.parameter = parameter, .argument = value});
      return CL_SUCCESS;
    } else if constexpr (std::is_same_v<T, ir::LocalArg>) {
      return kernel_.setArg(parameter, cl::Local(value.bytes));
    } else {
      return kernel_.setArg(parameter, sizeof(T), &value);
    }
  };
  for (const ir::KernelArg& argument : launch.arguments) {
    const int code = std::visit(set, argument);
    TIM_RETURN_IF_CL_ERROR(code, "parameter ", parameter, " of ",
                           SignatureText(kernel_));
    parameter += ParameterCount(argument);
  }
  return OkStatus();
}

Status KernelStep::SetBufferAndOffset(const Tensor& tensor,
                                      const OpenClBuffer& buffer,
                                      int64_t offset) {
  const int64_t size = tensor.argument.element_bytes;
  if (size <= 0 || offset % size != 0) {
    return TIM_INTERNAL("kernel '", function_, "', parameter ",
                        tensor.parameter, ": offset ", offset,
                        " is no multiple of ", size, " bytes");
  }
  const int64_t elements = offset / size;
  if (elements > std::numeric_limits<int32_t>::max()) {
    return Unimplemented("kernel '", function_, "', parameter ",
                         tensor.parameter, ": an offset of ", elements,
                         " elements; use smaller tensors");
  }
  TIM_RETURN_IF_CL_ERROR(kernel_.setArg(tensor.parameter, buffer.handle()),
                         "kernel '", function_, "', buffer parameter ",
                         tensor.parameter);
  TIM_RETURN_IF_CL_ERROR(
      kernel_.setArg(tensor.parameter + 1, static_cast<cl_int>(elements)),
      "kernel '", function_, "', offset parameter ", tensor.parameter + 1);
  return OkStatus();
}

Status KernelStep::SetPointer(const Tensor& tensor, OpenClBuffer& buffer,
                              const BufferRange& range) {
  TIM_ASSIGN_OR_RETURN(const cl::Buffer view,
                       buffer.View(range.offset, range.bytes));
  TIM_RETURN_IF_CL_ERROR(kernel_.setArg(tensor.parameter, view), "kernel '",
                         function_, "', pointer parameter ", tensor.parameter);
  return OkStatus();
}

Status KernelStep::SetTensor(Tensor& tensor, const BufferRange& range) {
  TIM_ASSIGN_OR_RETURN(OpenClBuffer * buffer, AsOpenCl(range));
  if (tensor.buffer_id == buffer->id() && tensor.offset == range.offset &&
      tensor.bytes == range.bytes) {
    return OkStatus();
  }
  tensor.buffer_id = 0;
  if (tensor.argument.plain_pointer) {
    TIM_RETURN_IF_ERROR(SetPointer(tensor, *buffer, range));
  } else {
    TIM_RETURN_IF_ERROR(SetBufferAndOffset(tensor, *buffer, range.offset));
  }
  tensor.buffer_id = buffer->id();
  tensor.offset = range.offset;
  tensor.bytes = range.bytes;
  return OkStatus();
}

Status KernelStep::Enqueue(const cl::CommandQueue& queue,
                           std::span<const BufferRange> operands) {
  for (Tensor& tensor : tensors_) {
    const size_t operand = tensor.argument.operand;
    if (operand >= operands.size()) {
      return TIM_INTERNAL("kernel '", function_, "' has no operand ", operand);
    }
    TIM_RETURN_IF_ERROR(SetTensor(tensor, operands[operand]));
  }
  TIM_RETURN_IF_CL_ERROR(
      queue.enqueueNDRangeKernel(kernel_, cl::NullRange, global_, local_),
      "launching kernel '", function_, "'");
  return OkStatus();
}

}  // namespace tim::device
