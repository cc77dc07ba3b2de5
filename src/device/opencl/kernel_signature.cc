#include "device/opencl/kernel_signature.h"

#include <variant>
#include <vector>

namespace tim::device {
namespace {

enum class Space { kBuffer, kLocal, kValue, kUnknown };

const char* ToString(Space space) {
  switch (space) {
    case Space::kBuffer:
      return "a buffer";
    case Space::kLocal:
      return "local memory";
    case Space::kValue:
      return "a value";
    case Space::kUnknown:
      break;
  }
  return "unknown";
}

Space SpaceOf(const cl::Kernel& kernel, int index) {
  int code = CL_SUCCESS;
  const auto qualifier =
      kernel.getArgInfo<CL_KERNEL_ARG_ADDRESS_QUALIFIER>(index, &code);
  if (code != CL_SUCCESS) return Space::kUnknown;
  if (qualifier == CL_KERNEL_ARG_ADDRESS_LOCAL) return Space::kLocal;
  if (qualifier == CL_KERNEL_ARG_ADDRESS_PRIVATE) return Space::kValue;
  return Space::kBuffer;
}

// What each parameter will be given.
std::vector<Space> GivenSpaces(const ir::KernelLaunch& launch) {
  std::vector<Space> given;
  for (const ir::KernelArg& argument : launch.arguments) {
    if (std::holds_alternative<ir::TensorArg>(argument)) {
      given.push_back(Space::kBuffer);
      if (ParameterCount(argument) == 2) given.push_back(Space::kValue);
    } else if (std::holds_alternative<ir::LocalArg>(argument)) {
      given.push_back(Space::kLocal);
    } else {
      given.push_back(Space::kValue);
    }
  }
  return given;
}

std::string ParameterText(const cl::Kernel& kernel, int index) {
  static constexpr const char* kPrefix[] = {"__global ", "__local ", "", ""};
  int code = CL_SUCCESS;
  const std::string type =
      kernel.getArgInfo<CL_KERNEL_ARG_TYPE_NAME>(index, &code);
  if (code != CL_SUCCESS) return "?";
  const std::string name = kernel.getArgInfo<CL_KERNEL_ARG_NAME>(index, &code);
  return StrCat(kPrefix[static_cast<int>(SpaceOf(kernel, index))], type,
                code == CL_SUCCESS ? " " : "", name);
}

}  // namespace

int ParameterCount(const ir::KernelArg& argument) {
  const auto* tensor = std::get_if<ir::TensorArg>(&argument);
  return tensor != nullptr && !tensor->plain_pointer ? 2 : 1;
}

std::string SignatureText(const cl::Kernel& kernel) {
  const int count = static_cast<int>(kernel.getInfo<CL_KERNEL_NUM_ARGS>());
  std::vector<std::string> parameters;
  for (int i = 0; i < count; ++i) {
    parameters.push_back(ParameterText(kernel, i));
  }
  return StrCat(kernel.getInfo<CL_KERNEL_FUNCTION_NAME>(), "(",
                StrJoin(parameters, ", "), ")");
}

Status CheckSignature(const cl::Kernel& kernel,
                      const ir::KernelLaunch& launch) {
  const std::vector<Space> given = GivenSpaces(launch);
  const size_t count = kernel.getInfo<CL_KERNEL_NUM_ARGS>();
  if (count != given.size()) {
    return InvalidArgument("kernel '", launch.function, "' has ", count,
                           " parameters, but ", given.size(),
                           " arguments are given to ", SignatureText(kernel));
  }
  for (size_t i = 0; i < count; ++i) {
    const Space expected = SpaceOf(kernel, static_cast<int>(i));
    if (expected == Space::kUnknown || expected == given[i]) continue;
    return InvalidArgument("kernel '", launch.function, "': parameter ", i,
                           " is ", ToString(expected), ", but it is given ",
                           ToString(given[i]), ": ", SignatureText(kernel));
  }
  return OkStatus();
}

}  // namespace tim::device
