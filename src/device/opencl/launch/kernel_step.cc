#include "device/opencl/launch/kernel_step.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "device/opencl/driver/cl_status.h"
#include "device/opencl/guard/guarded_step.h"
#include "device/opencl/kernel/kernel_parameter.h"
#include "device/opencl/kernel/kernel_signature.h"
#include "ir/index_limit.h"

namespace tim::device {
namespace {

// Limits of kernels on remote devices may be wrong: the device's limit holds.
KernelLimits LimitsOf(const cl::Kernel& kernel, const cl::Device& device,
                      const ir::DeviceInfo& info) {
  KernelLimits limits;
  limits.work_group_size =
      info.remote ? static_cast<size_t>(info.max_work_group_size)
                  : kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device);
  const auto required =
      kernel.getWorkGroupInfo<CL_KERNEL_COMPILE_WORK_GROUP_SIZE>(device);
  for (int i = 0; i < 3; ++i) limits.required_local[i] = required[i];
  limits.local_memory_bytes = static_cast<int64_t>(
      kernel.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(device));
  return limits;
}

// "a, b", or "none".
std::string KernelNames(const cl::Program& program) {
  std::string names;
  for (const char c : program.getInfo<CL_PROGRAM_KERNEL_NAMES>()) {
    names += c == ';' ? std::string(", ") : std::string(1, c);
  }
  return names.empty() ? "none" : names;
}

// How many operands arguments of the kind `Tensor` need.
template <typename Tensor, typename Arg>
size_t OperandCount(const std::vector<Arg>& arguments) {
  int last = -1;
  for (const Arg& argument : arguments) {
    const auto* tensor = std::get_if<Tensor>(&argument);
    if (tensor != nullptr) last = std::max(last, tensor->operand);
  }
  return static_cast<size_t>(last + 1);
}

Result<cl::Kernel> MakeKernel(const cl::Program& program,
                              const std::string& function) {
  int code = CL_SUCCESS;
  cl::Kernel kernel(program, function.c_str(), &code);
  if (code == CL_INVALID_KERNEL_NAME) {
    return InvalidArgument("the program has no kernel '", function,
                           "'; it has: ", KernelNames(program));
  }
  TIM_RETURN_IF_CL_ERROR(code, "kernel '", function, "'");
  return kernel;
}

}  // namespace

Result<std::unique_ptr<PreparedStep>> KernelStep::Create(
    const cl::Program& program, const cl::Device& device,
    const ir::DeviceInfo& info, const ir::KernelLaunch& launch) {
  TIM_ASSIGN_OR_RETURN(cl::Kernel kernel, MakeKernel(program, launch.function));
  const KernelLimits limits = LimitsOf(kernel, device, info);
  TIM_RETURN_IF_ERROR(CheckLimits(launch, info, limits));
  std::unique_ptr<KernelStep> step(new KernelStep(
      std::move(kernel), launch.function, SizesOf(launch, limits)));
  step->operands_ = OperandCount<ir::TensorArg>(launch.arguments);
  step->alignment_ = info.alignment;
  TIM_RETURN_IF_ERROR(step->CheckArguments(launch));
  TIM_RETURN_IF_ERROR(step->SetFixedArguments(launch));
  return std::unique_ptr<PreparedStep>(std::move(step));
}

Result<std::unique_ptr<PreparedStep>> KernelStep::Create(
    const cl::Program& program, const cl::Device& device,
    const ir::DeviceInfo& info, const DeviceOptions& options,
    const ir::UserLaunch& launch, int64_t uncounted_local_bytes,
    GuardedContents* guards) {
  TIM_ASSIGN_OR_RETURN(cl::Kernel kernel, MakeKernel(program, launch.function));
  KernelLimits limits = LimitsOf(kernel, device, info);
  limits.local_memory_bytes += uncounted_local_bytes;
  TIM_RETURN_IF_ERROR(CheckLimits(launch, info, limits));
  LaunchSizes sizes = SizesOf(launch, limits, kernel, device, info);
  std::unique_ptr<KernelStep> step(
      new KernelStep(std::move(kernel), launch.function, std::move(sizes)));
  step->operands_ = OperandCount<ir::UserTensorArg>(launch.arguments);
  TIM_ASSIGN_OR_RETURN(step->user_,
                       UserArguments::Create(step->kernel_, info, launch));
  if (options.guard) {
    return GuardedStep::Create(step->kernel_, step->sizes_, info, launch,
                               guards);
  }
  return std::unique_ptr<PreparedStep>(std::move(step));
}

// What is wrong here is a mistake of the library.
Status KernelStep::CheckArguments(const ir::KernelLaunch& launch) const {
  const Status status = CheckSignature(kernel_, launch);
  if (status.ok()) return status;
  return Status(StatusCode::kInternal, status.message());
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
    } else if constexpr (std::is_same_v<T, ir::StructArg>) {
      const std::vector<int32_t> words = WordsOf(value);
      return kernel_.setArg(parameter, words.size() * sizeof(int32_t),
                            words.data());
    } else {
      static_assert(std::is_arithmetic_v<T>);
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

// Kernels add offsets and indices in 32 bits: what ends beyond is in a buffer
// of its own.
Status KernelStep::SetBufferAndOffset(const Tensor& tensor,
                                      const OpenClRange& place, int64_t bytes) {
  const int64_t offset = place.offset;
  const int64_t size = tensor.argument.element_bytes;
  if (size <= 0 || offset % size != 0) {
    return TIM_INTERNAL("kernel '", function_, "', parameter ",
                        tensor.parameter, ": offset ", offset,
                        " is no multiple of ", size, " bytes");
  }
  int64_t elements = offset / size;
  cl::Buffer handle = place.handle();
  if (!ir::IndicesFit(elements, bytes / size)) {
    const int64_t first = offset / alignment_ * alignment_;
    TIM_ASSIGN_OR_RETURN(
        handle, place.buffer->SubBuffer(first, offset - first + bytes));
    elements = (offset - first) / size;
  }
  TIM_RETURN_IF_CL_ERROR(kernel_.setArg(tensor.parameter, handle), "kernel '",
                         function_, "', buffer parameter ", tensor.parameter);
  TIM_RETURN_IF_CL_ERROR(
      kernel_.setArg(tensor.parameter + 1, static_cast<cl_int>(elements)),
      "kernel '", function_, "', offset parameter ", tensor.parameter + 1);
  return OkStatus();
}

Status KernelStep::SetTensor(Tensor& tensor, const BufferRange& range) {
  TIM_ASSIGN_OR_RETURN(const OpenClRange place, AsOpenCl(range));
  const uint64_t id = place.buffer->id();
  if (tensor.buffer_id == id && tensor.offset == place.offset) {
    return OkStatus();
  }
  tensor.buffer_id = 0;
  TIM_RETURN_IF_ERROR(SetBufferAndOffset(tensor, place, range.bytes));
  tensor.buffer_id = id;
  tensor.offset = place.offset;
  return OkStatus();
}

Status KernelStep::Launch(OpenClQueue& queue) {
  const int code = queue.Launch(kernel_, sizes_.run.global, sizes_.run.local);
  // Of memory there may be enough later, of registers not.
  if (code == CL_OUT_OF_RESOURCES && sizes_.run.local.dimensions() > 0) {
    return Unimplemented("launching kernel '", function_,
                         "': CL_OUT_OF_RESOURCES (-5); a work-group of the "
                         "size that it is launched with needs more registers "
                         "or local memory than the device has");
  }
  TIM_RETURN_IF_CL_ERROR(code, "launching kernel '", function_, "'");
  return OkStatus();
}

Status KernelStep::Bind(OpenClQueue& queue,
                        std::span<const BufferRange> operands) {
  if (operands.size() < operands_) {
    return TIM_INTERNAL("kernel '", function_, "' needs ", operands_,
                        " operands, found ", operands.size());
  }
  for (Tensor& tensor : tensors_) {
    TIM_RETURN_IF_ERROR(SetTensor(tensor, operands[tensor.argument.operand]));
  }
  return user_.Bind(kernel_, queue, operands);
}

Status KernelStep::Enqueue(OpenClQueue& queue,
                           std::span<const BufferRange> operands) {
  TIM_RETURN_IF_ERROR(Bind(queue, operands));
  TIM_RETURN_IF_ERROR(Launch(queue));
  return user_.Finish(queue, operands);
}

Status KernelStep::Build(OpenClQueue& queue,
                         std::span<const BufferRange> operands) {
  if (!sizes_.build) return OkStatus();
  TIM_RETURN_IF_ERROR(Bind(queue, operands));
  BuildKernel(queue, kernel_, sizes_, function_);
  return user_.Finish(queue, operands);
}

}  // namespace tim::device
