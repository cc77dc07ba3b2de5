#include "device/opencl/user/user_signature.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "device/opencl/driver/cl_status.h"
#include "device/opencl/kernel/kernel_parameter.h"
#include "device/opencl/user/image_header.h"
#include "device/opencl/user/user_scalar.h"
#include "device/opencl/user/user_tensor_type.h"
#include "kernels/text/c_type.h"
#include "kernels/text/typedef_names.h"

namespace tim::device {
namespace {

using Space = ParameterSpace;

struct ArgumentText {
  std::string operator()(const ir::UserTensorArg& tensor) const {
    if (tensor.operand == ir::kAbsentOperand) {
      return StrCat(tensor.name, " absent");
    }
    return StrCat(tensor.name, " ", ToString(tensor.type), " [",
                  StrJoin(tensor.dims, ", "), "]");
  }
  std::string operator()(const ir::UserScalarArg& scalar) const {
    return StrCat(scalar.name, " ", scalar.type);
  }
  std::string operator()(const ir::LocalArg& local) const {
    return StrCat(local.name, " of ", local.bytes, " bytes");
  }
};

std::string TextOf(const ir::UserArg& argument) {
  return std::visit(ArgumentText(), argument);
}

// "\n  kernel:   f(…)\n  operator: (input 0 float32 [4], scalar 0 float)"
std::string BothSides(const cl::Kernel& kernel,
                      const std::vector<KernelParameter>& parameters,
                      const ir::UserLaunch& launch) {
  std::vector<std::string> given;
  for (const ir::UserArg& argument : launch.arguments) {
    given.push_back(TextOf(argument));
  }
  return StrCat("\n  kernel:   ", SignatureText(kernel, parameters),
                "\n  operator: (", StrJoin(given, ", "), ")");
}

// Most of all for tensors in another order than the parameters.
Status CheckAccess(const KernelParameter& parameter,
                   const ir::UserTensorArg& tensor) {
  const bool only_written = tensor.written && !tensor.readable;
  const char* qualifier = nullptr;
  if (only_written && parameter.points_to_const) {
    qualifier = parameter.space == Space::kConstant ? "__constant" : "const";
  } else if (only_written && parameter.access == ImageAccess::kReadOnly) {
    qualifier = "__read_only";
  } else if (!tensor.written && parameter.access == ImageAccess::kWriteOnly) {
    qualifier = "__write_only";
  }
  if (qualifier == nullptr) return OkStatus();
  return InvalidArgument(tensor.written ? "an output" : "an input",
                         " cannot be ", qualifier,
                         "; inputs come first, then outputs, then what the "
                         "operator adds, then scalars");
}

Status CheckTensor(const KernelParameter& parameter,
                   const kernels::TypedefNames& typedefs,
                   const ir::UserTensorArg& tensor) {
  if (parameter.space == Space::kValue) {
    return InvalidArgument("a tensor for a value; write __global T*, ",
                           "image2d_t or image2d_array_t");
  }
  if (parameter.space == Space::kLocal) {
    return InvalidArgument("a tensor for local memory, which only ",
                           "AddLocal() gives");
  }
  TIM_RETURN_IF_ERROR(CheckAccess(parameter, tensor));
  const bool absent = tensor.operand == ir::kAbsentOperand;
  if (ImageKindOf(parameter) != ImageKind::kNone) {
    if (absent) return OkStatus();
    return CheckImage(ImageKindOf(parameter), tensor);
  }
  std::string_view pointee = parameter.type;
  if (!pointee.ends_with('*')) {
    return InvalidArgument("no tensor goes to ", parameter.type,
                           "; write __global T*, image2d_t or image2d_array_t");
  }
  if (absent) return OkStatus();
  pointee.remove_suffix(1);
  return CheckPointee(tensor.type, pointee, typedefs.Resolve(pointee));
}

// Before the numbers are compared: a parameter too many may be a __local one.
Status CheckLocals(const std::vector<KernelParameter>& parameters,
                   const ir::UserLaunch& launch) {
  auto given =
      std::count_if(launch.arguments.begin(), launch.arguments.end(),
                    [](const ir::UserArg& argument) {
                      return std::holds_alternative<ir::LocalArg>(argument);
                    });
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].space != Space::kLocal || given-- > 0) continue;
    return InvalidArgument("kernel '", launch.function, "', parameter ", i,
                           " '", parameters[i].ToString(),
                           "': the operator gives no local memory for it; add ",
                           "some by AddLocal(), or declare it in the kernel");
  }
  return OkStatus();
}

Status SetLocal(cl::Kernel& kernel, int index, const KernelParameter& parameter,
                const ir::LocalArg& local) {
  if (parameter.space != Space::kLocal) {
    return InvalidArgument("local memory goes to __local T* only");
  }
  TIM_RETURN_IF_CL_ERROR(kernel.setArg(index, cl::Local(local.bytes)),
                         "setting it");
  return OkStatus();
}

// A scalar, or the vector of as many elements.
Result<const kernels::CType*> ScalarType(const std::string& written,
                                         const kernels::TypedefNames& typedefs,
                                         size_t lanes) {
  const std::string name = typedefs.Resolve(written);
  const std::string element(kernels::ElementOfVector(name));
  const kernels::CType* type = kernels::FindCType(lanes > 1 ? element : name);
  if (lanes > 1 && type != nullptr) {
    if (name == StrCat(element, lanes)) return type;
    return InvalidArgument("a vector of ", lanes, " elements does not go to ",
                           written, "; write ", element, lanes);
  }
  if (type != nullptr) return type;
  if (kernels::IsBuiltinType(name) || name == "sampler_t") {
    return InvalidArgument("no scalar goes to ", written);
  }
  return InvalidArgument("no scalar goes to ", written,
                         ", which is not a builtin type; write one, a typedef ",
                         "of one, or a #define");
}

Status SetScalar(cl::Kernel& kernel, int index,
                 const KernelParameter& parameter,
                 const kernels::TypedefNames& typedefs,
                 const ir::UserScalarArg& scalar) {
  if (parameter.space != Space::kValue) {
    return InvalidArgument("a scalar for a pointer or an image");
  }
  TIM_ASSIGN_OR_RETURN(
      const kernels::CType* type,
      ScalarType(parameter.type, typedefs, 1 + scalar.more.size()));
  TIM_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                       ScalarBytes(scalar, *type));
  TIM_RETURN_IF_CL_ERROR(kernel.setArg(index, bytes.size(), bytes.data()),
                         "setting it");
  return OkStatus();
}

// Outputs that are const where an input is not: most of all for another order.
Status CheckWrites(const std::vector<KernelParameter>& parameters,
                   const ir::UserLaunch& launch) {
  bool has_written = launch.part > 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto* tensor = std::get_if<ir::UserTensorArg>(&launch.arguments[i]);
    if (tensor == nullptr || !tensor->written) continue;
    has_written = true;
    if (parameters[i].points_to_const) continue;
    if (parameters[i].access != ImageAccess::kReadOnly) return OkStatus();
  }
  if (!has_written) return OkStatus();
  return InvalidArgument("kernel '", launch.function, "' writes nothing: it ",
                         "gets each output and scratch tensor, if any, as ",
                         "const");
}

Status CheckParameter(cl::Kernel& kernel, int index,
                      const KernelParameter& parameter,
                      const kernels::TypedefNames& typedefs,
                      const ir::UserArg& argument) {
  if (parameter.space == Space::kUnknown || parameter.type.empty()) {
    return Unimplemented("the driver does not tell the types of parameters");
  }
  if (const auto* tensor = std::get_if<ir::UserTensorArg>(&argument)) {
    return CheckTensor(parameter, typedefs, *tensor);
  }
  if (const auto* scalar = std::get_if<ir::UserScalarArg>(&argument)) {
    return SetScalar(kernel, index, parameter, typedefs, *scalar);
  }
  return SetLocal(kernel, index, parameter, std::get<ir::LocalArg>(argument));
}

}  // namespace

Status CheckUserSignature(cl::Kernel& kernel, const ir::UserLaunch& launch) {
  const std::vector<KernelParameter> parameters = ParametersOf(kernel, launch);
  const kernels::TypedefNames typedefs(launch.text);
  const auto& arguments = launch.arguments;
  if (const Status status = CheckLocals(parameters, launch); !status.ok()) {
    return Status(status.code(), StrCat(status.message(),
                                        BothSides(kernel, parameters, launch)));
  }
  if (parameters.size() != arguments.size()) {
    return InvalidArgument("kernel '", launch.function, "' takes ",
                           parameters.size(),
                           " parameters, the operator gives ", arguments.size(),
                           BothSides(kernel, parameters, launch));
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Status status = CheckParameter(kernel, static_cast<int>(i),
                                         parameters[i], typedefs, arguments[i]);
    if (status.ok()) continue;
    return Status(
        status.code(),
        StrCat("kernel '", launch.function, "', parameter ", i, " '",
               parameters[i].ToString(), "' with ", TextOf(arguments[i]), ": ",
               status.message(), BothSides(kernel, parameters, launch)));
  }
  if (const Status status = CheckWrites(parameters, launch); !status.ok()) {
    return Status(status.code(), StrCat(status.message(),
                                        BothSides(kernel, parameters, launch)));
  }
  return OkStatus();
}

}  // namespace tim::device
