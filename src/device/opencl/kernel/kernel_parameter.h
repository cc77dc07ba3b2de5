// The parameters of a built kernel, as the driver tells them.
#ifndef TIM_DEVICE_OPENCL_KERNEL_KERNEL_PARAMETER_H_
#define TIM_DEVICE_OPENCL_KERNEL_KERNEL_PARAMETER_H_

#include <string>
#include <vector>

#include "device/opencl/driver/cl_api.h"
#include "device/opencl/kernel/image_access.h"
#include "ir/step.h"

namespace tim::device {

enum class ParameterSpace { kGlobal, kConstant, kLocal, kValue, kUnknown };

struct KernelParameter {
  ParameterSpace space = ParameterSpace::kUnknown;
  std::string type;  ///< Plain (c_type.h): "float*", "uint"; may be missing.
  std::string name;  ///< May be missing.
  /// The kernel cannot write what the pointer points to.
  bool points_to_const = false;
  bool points_to_volatile = false;
  bool is_restrict = false;
  ImageAccess access = ImageAccess::kNotSaid;  ///< Of a user's image.
  /// "__global const float* a", as the user wrote it, images as images.
  std::string ToString() const;
};

/// What kernels/custom_images.cl makes of an image type.
enum class ImageKind { kNone, kImage2d, kImage2dArray };
ImageKind ImageKindOf(const KernelParameter& parameter);

std::vector<KernelParameter> ParametersOf(const cl::Kernel& kernel);

/// With what the launch's text says of images.
std::vector<KernelParameter> ParametersOf(const cl::Kernel& kernel,
                                          const ir::UserLaunch& launch);

/// "f(__global const float* a, int n)"; types are missing where the driver does
/// not tell them.
std::string SignatureText(const cl::Kernel& kernel,
                          const std::vector<KernelParameter>& parameters);
std::string SignatureText(const cl::Kernel& kernel);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_KERNEL_KERNEL_PARAMETER_H_
