#include "device/opencl/kernel_parameter.h"

#include "base/str_cat.h"
#include "device/opencl/c_type.h"

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

bool PointsToConst(const cl::Kernel& kernel, int index, ParameterSpace space) {
  if (space == ParameterSpace::kConstant) return true;
  int code = CL_SUCCESS;
  const auto qualifier =
      kernel.getArgInfo<CL_KERNEL_ARG_TYPE_QUALIFIER>(index, &code);
  return code == CL_SUCCESS && (qualifier & CL_KERNEL_ARG_TYPE_CONST) != 0;
}

KernelParameter ParameterOf(const cl::Kernel& kernel, int index) {
  KernelParameter parameter;
  parameter.space = SpaceOf(kernel, index);
  parameter.points_to_const = PointsToConst(kernel, index, parameter.space);
  int code = CL_SUCCESS;
  const std::string type =
      kernel.getArgInfo<CL_KERNEL_ARG_TYPE_NAME>(index, &code);
  if (code == CL_SUCCESS) parameter.type = PlainTypeName(type);
  const std::string name = kernel.getArgInfo<CL_KERNEL_ARG_NAME>(index, &code);
  if (code == CL_SUCCESS) parameter.name = name;
  return parameter;
}

}  // namespace

std::string KernelParameter::ToString() const {
  static constexpr const char* kPrefix[] = {"__global ", "__constant ",
                                            "__local ", "", ""};
  const std::string end = name.empty() ? "" : " " + name;
  const ImageName* image = FindImage(*this);
  if (image != nullptr) return image->written + end;
  return StrCat(kPrefix[static_cast<int>(space)], type.empty() ? "?" : type,
                end);
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

std::string SignatureText(const cl::Kernel& kernel) {
  std::vector<std::string> parameters;
  for (const KernelParameter& parameter : ParametersOf(kernel)) {
    parameters.push_back(parameter.ToString());
  }
  return StrCat(kernel.getInfo<CL_KERNEL_FUNCTION_NAME>(), "(",
                StrJoin(parameters, ", "), ")");
}

}  // namespace tim::device
