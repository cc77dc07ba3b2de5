#include "device/opencl/kernel/kernel_signature.h"

#include <variant>
#include <vector>

#include "device/opencl/kernel/kernel_parameter.h"

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
  return OkStatus();
}

}  // namespace tim::device
