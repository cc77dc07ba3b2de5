#include "device/opencl/kernel/kernel_signature.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "device/opencl/kernel/kernel_parameter.h"
#include "kernels/launch_arguments.h"

namespace tim::device {
namespace {

const char* ToString(ParameterSpace space) {
  switch (space) {
    case ParameterSpace::kGlobal:
    case ParameterSpace::kConstant:
      return "a buffer";
    case ParameterSpace::kLocal:
      return "local memory";
    case ParameterSpace::kValue:
      return "a value";
    case ParameterSpace::kUnknown:
      break;
  }
  return "unknown";
}

// What each parameter will be given.
std::vector<ParameterSpace> GivenSpaces(const ir::KernelLaunch& launch) {
  std::vector<ParameterSpace> given;
  for (const ir::KernelArg& argument : launch.arguments) {
    if (std::holds_alternative<ir::TensorArg>(argument)) {
      given.push_back(ParameterSpace::kGlobal);
      given.push_back(ParameterSpace::kValue);
    } else if (std::holds_alternative<ir::LocalArg>(argument)) {
      given.push_back(ParameterSpace::kLocal);
    } else {
      given.push_back(ParameterSpace::kValue);
    }
  }
  return given;
}

bool Takes(ParameterSpace parameter, ParameterSpace given) {
  return parameter == given || parameter == ParameterSpace::kUnknown ||
         (parameter == ParameterSpace::kConstant &&
          given == ParameterSpace::kGlobal);
}

// Drivers take a struct that is shorter than the parameter, too, and read on
// behind it.
Status CheckStructs(const ir::KernelLaunch& launch) {
  const auto is_struct = [](const ir::KernelArg& argument) {
    return std::holds_alternative<ir::StructArg>(argument);
  };
  if (!launch.text.empty() ||
      std::ranges::none_of(launch.arguments, is_struct)) {
    return OkStatus();
  }
  ir::KernelLaunch bound = launch;
  TIM_RETURN_IF_ERROR(kernels::BindArguments(&bound));
  if (bound == launch) return OkStatus();
  return InvalidArgument("kernel '", launch.function,
                         "' has the fields of a struct in another order");
}

}  // namespace

int ParameterCount(const ir::KernelArg& argument) {
  return std::holds_alternative<ir::TensorArg>(argument) ? 2 : 1;
}

Status CheckSignature(const cl::Kernel& kernel,
                      const ir::KernelLaunch& launch) {
  const std::vector<ParameterSpace> given = GivenSpaces(launch);
  const std::vector<KernelParameter> parameters = ParametersOf(kernel);
  if (parameters.size() != given.size()) {
    return InvalidArgument("kernel '", launch.function, "' has ",
                           parameters.size(), " parameters, but ", given.size(),
                           " arguments are given to ", SignatureText(kernel));
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (Takes(parameters[i].space, given[i])) continue;
    return InvalidArgument("kernel '", launch.function, "': parameter ", i,
                           " is ", ToString(parameters[i].space),
                           ", but it is given ", ToString(given[i]), ": ",
                           SignatureText(kernel));
  }
  return CheckStructs(launch);
}

}  // namespace tim::device
