#include "device/opencl/user_signature.h"

#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "device/opencl/c_type.h"
#include "device/opencl/cl_status.h"
#include "device/opencl/image_header.h"
#include "device/opencl/kernel_parameter.h"
#include "device/opencl/user_scalar.h"
#include "device/opencl/user_tensor_type.h"

namespace tim::device {
namespace {

using Space = ParameterSpace;

struct ArgumentText {
  std::string operator()(const ir::UserTensorArg& tensor) const {
    return StrCat(tensor.name, " ", ToString(tensor.type), " [",
                  StrJoin(tensor.dims, ", "), "]");
  }
  std::string operator()(const ir::UserScalarArg& scalar) const {
    return StrCat(scalar.name, " ", scalar.type);
  }
  template <typename Other>
  std::string operator()(const Other&) const {
    return "an argument of a built-in kernel";
  }
};

std::string TextOf(const ir::KernelArg& argument) {
  return std::visit(ArgumentText(), argument);
}

// "\n  kernel:   f(…)\n  operator: (input 0 float32 [4], scalar 0 float)"
std::string BothSides(const cl::Kernel& kernel,
                      const ir::KernelLaunch& launch) {
  std::vector<std::string> given;
  for (const ir::KernelArg& argument : launch.arguments) {
    given.push_back(TextOf(argument));
  }
  return StrCat("\n  kernel:   ", SignatureText(kernel), "\n  operator: (",
                StrJoin(given, ", "), ")");
}

Status CheckTensor(const KernelParameter& parameter,
                   const ir::UserTensorArg& tensor) {
  if (parameter.space == Space::kValue) {
    return InvalidArgument("a tensor for a value; write __global T*, ",
                           "image2d_t or image2d_array_t");
  }
  if (parameter.space == Space::kLocal) {
    return InvalidArgument("operators have no __local parameters; declare ",
                           "local memory in the kernel");
  }
  if (parameter.space == Space::kConstant && tensor.written) {
    return InvalidArgument("an output cannot be __constant");
  }
  if (ImageKindOf(parameter) != ImageKind::kNone) {
    return CheckImage(ImageKindOf(parameter), tensor);
  }
  std::string_view pointee = parameter.type;
  if (!pointee.ends_with('*')) {
    return InvalidArgument("no tensor goes to ", parameter.type,
                           "; write __global T*, image2d_t or image2d_array_t");
  }
  pointee.remove_suffix(1);
  return CheckPointee(tensor.type, pointee);
}

// A type that only the program knows is known by its size, which the driver
// checks; some drivers take every size.
Result<int> SizeOf(cl::Kernel& kernel, int index, const std::string& type) {
  const std::array<std::byte, 8> zeros = {};
  int found = 0;
  for (const int size : {1, 2, 4, 8}) {
    if (kernel.setArg(index, size, zeros.data()) != CL_SUCCESS) continue;
    if (found != 0) {
      return InvalidArgument("the driver does not tell the size of ", type,
                             "; write a builtin type, or #define it");
    }
    found = size;
  }
  return found;
}

// The type of that size that `scalar` would have.
const CType* GuessType(const ir::UserScalarArg& scalar, int size) {
  if (std::holds_alternative<double>(scalar.value)) return FloatOfSize(size);
  const auto* value = std::get_if<int64_t>(&scalar.value);
  return IntegerOfSize(size, value != nullptr && *value < 0);
}

Result<const CType*> TypeOf(cl::Kernel& kernel, int index,
                            const std::string& name,
                            const ir::UserScalarArg& scalar) {
  const CType* type = FindCType(name);
  const bool vector = ElementOfVector(name) != name;
  if (type == nullptr && !vector && name != "sampler_t") {
    TIM_ASSIGN_OR_RETURN(const int size, SizeOf(kernel, index, name));
    type = GuessType(scalar, size);
  }
  if (type == nullptr) return InvalidArgument("no scalar goes to ", name);
  return type;
}

Status SetScalar(cl::Kernel& kernel, int index,
                 const KernelParameter& parameter,
                 const ir::UserScalarArg& scalar) {
  if (parameter.space != Space::kValue) {
    return InvalidArgument("a scalar for a pointer or an image");
  }
  TIM_ASSIGN_OR_RETURN(const CType* type,
                       TypeOf(kernel, index, parameter.type, scalar));
  TIM_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                       ScalarBytes(scalar, *type));
  TIM_RETURN_IF_CL_ERROR(kernel.setArg(index, bytes.size(), bytes.data()),
                         "setting it");
  return OkStatus();
}

Status CheckParameter(cl::Kernel& kernel, int index,
                      const KernelParameter& parameter,
                      const ir::KernelArg& argument) {
  if (parameter.space == Space::kUnknown || parameter.type.empty()) {
    return Unimplemented("the driver does not tell the types of parameters");
  }
  if (const auto* tensor = std::get_if<ir::UserTensorArg>(&argument)) {
    return CheckTensor(parameter, *tensor);
  }
  if (const auto* scalar = std::get_if<ir::UserScalarArg>(&argument)) {
    return SetScalar(kernel, index, parameter, *scalar);
  }
  return TIM_INTERNAL("a built-in kernel's argument for a user's kernel");
}

}  // namespace

Status CheckUserSignature(cl::Kernel& kernel, const ir::KernelLaunch& launch) {
  const std::vector<KernelParameter> parameters = ParametersOf(kernel);
  const auto& arguments = launch.arguments;
  if (parameters.size() != arguments.size()) {
    return InvalidArgument("kernel '", launch.function, "' takes ",
                           parameters.size(),
                           " parameters, the operator gives ", arguments.size(),
                           BothSides(kernel, launch));
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Status status = CheckParameter(kernel, static_cast<int>(i),
                                         parameters[i], arguments[i]);
    if (status.ok()) continue;
    return Status(
        status.code(),
        StrCat("kernel '", launch.function, "', parameter ", i, " '",
               parameters[i].ToString(), "' with ", TextOf(arguments[i]), ": ",
               status.message(), BothSides(kernel, launch)));
  }
  return OkStatus();
}

}  // namespace tim::device
