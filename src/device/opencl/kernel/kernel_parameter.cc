#include "device/opencl/kernel/kernel_parameter.h"

#include "base/str_cat.h"
#include "kernels/text/c_type.h"

namespace tim::device {
namespace {

struct ImageName {
  ImageKind kind;
  const char* lowered;
  const char* written;
};
constexpr ImageName kImages[] = {
    {ImageKind::kImage2d, "tim_image2d*", "image2d_t"},
    {ImageKind::kImage2dArray, "tim_image2d_array*", "image2d_array_t"},
};

const ImageName* FindImage(const KernelParameter& parameter) {
  for (const ImageName& image : kImages) {
    if (parameter.type == image.lowered) return &image;
  }
  return nullptr;
}

ParameterSpace SpaceOf(const cl::Kernel& kernel, int index) {
  int code = CL_SUCCESS;
  const auto qualifier =
      kernel.getArgInfo<CL_KERNEL_ARG_ADDRESS_QUALIFIER>(index, &code);
  if (code != CL_SUCCESS) return ParameterSpace::kUnknown;
  switch (qualifier) {
    case CL_KERNEL_ARG_ADDRESS_LOCAL:
      return ParameterSpace::kLocal;
    case CL_KERNEL_ARG_ADDRESS_PRIVATE:
      return ParameterSpace::kValue;
    case CL_KERNEL_ARG_ADDRESS_CONSTANT:
      return ParameterSpace::kConstant;
    default:
      return ParameterSpace::kGlobal;
  }
}

void TakeQualifiers(const cl::Kernel& kernel, int index,
                    KernelParameter* parameter) {
  int code = CL_SUCCESS;
  const auto qualifier =
      kernel.getArgInfo<CL_KERNEL_ARG_TYPE_QUALIFIER>(index, &code);
  const auto has = [&](cl_kernel_arg_type_qualifier bit) {
    return code == CL_SUCCESS && (qualifier & bit) != 0;
  };
  parameter->points_to_const = parameter->space == ParameterSpace::kConstant ||
                               has(CL_KERNEL_ARG_TYPE_CONST);
  parameter->points_to_volatile = has(CL_KERNEL_ARG_TYPE_VOLATILE);
  parameter->is_restrict = has(CL_KERNEL_ARG_TYPE_RESTRICT);
}

KernelParameter ParameterOf(const cl::Kernel& kernel, int index) {
  KernelParameter parameter;
  parameter.space = SpaceOf(kernel, index);
  TakeQualifiers(kernel, index, &parameter);
  int code = CL_SUCCESS;
  const std::string type =
      kernel.getArgInfo<CL_KERNEL_ARG_TYPE_NAME>(index, &code);
  if (code == CL_SUCCESS) parameter.type = kernels::PlainTypeName(type);
  const std::string name = kernel.getArgInfo<CL_KERNEL_ARG_NAME>(index, &code);
  if (code == CL_SUCCESS) parameter.name = name;
  return parameter;
}

}  // namespace

std::string KernelParameter::ToString() const {
  static constexpr const char* kSpaces[] = {"__global ", "__constant ",
                                            "__local ", "", ""};
  static constexpr const char* kAccess[] = {"", "__read_only ", "__write_only ",
                                            "__read_write "};
  const std::string end = name.empty() ? "" : " " + name;
  if (const ImageName* image = FindImage(*this); image != nullptr) {
    return StrCat(kAccess[static_cast<int>(access)], image->written, end);
  }
  const bool says_const = points_to_const && space != ParameterSpace::kConstant;
  return StrCat(kSpaces[static_cast<int>(space)], says_const ? "const " : "",
                points_to_volatile ? "volatile " : "",
                type.empty() ? "?" : type, is_restrict ? " restrict" : "", end);
}

ImageKind ImageKindOf(const KernelParameter& parameter) {
  const ImageName* image = FindImage(parameter);
  return image != nullptr ? image->kind : ImageKind::kNone;
}

std::vector<KernelParameter> ParametersOf(const cl::Kernel& kernel) {
  const int count = static_cast<int>(kernel.getInfo<CL_KERNEL_NUM_ARGS>());
  std::vector<KernelParameter> parameters;
  for (int i = 0; i < count; ++i) parameters.push_back(ParameterOf(kernel, i));
  return parameters;
}

std::vector<KernelParameter> ParametersOf(const cl::Kernel& kernel,
                                          const ir::UserLaunch& launch) {
  std::vector<KernelParameter> parameters = ParametersOf(kernel);
  const std::vector<ImageAccess> access =
      ImageAccessOf(launch, parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (FindImage(parameters[i]) != nullptr) parameters[i].access = access[i];
  }
  return parameters;
}

std::string SignatureText(const cl::Kernel& kernel,
                          const std::vector<KernelParameter>& parameters) {
  std::vector<std::string> texts;
  for (const KernelParameter& parameter : parameters) {
    texts.push_back(parameter.ToString());
  }
  return StrCat(kernel.getInfo<CL_KERNEL_FUNCTION_NAME>(), "(",
                StrJoin(texts, ", "), ")");
}

std::string SignatureText(const cl::Kernel& kernel) {
  return SignatureText(kernel, ParametersOf(kernel));
}

}  // namespace tim::device
