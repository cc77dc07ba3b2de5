#include "device/opencl/user/image_types.h"

#include <string_view>
#include <vector>

#include "kernels/text/kernel_text.h"

namespace tim::device {
namespace {

bool IsOtherImage(std::string_view token) {
  return token.starts_with("image") && token.ends_with("_t") &&
         token != "image2d_t" && token != "image2d_array_t" &&
         token.size() > 5 && token[5] >= '1' && token[5] <= '3';
}

Status CheckDefinition(const std::string& function,
                       const kernels::KernelText& kernel) {
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    for (const std::string_view token : kernel.parameters[i]) {
      if (!IsOtherImage(token)) continue;
      return InvalidArgument("kernel '", function, "', parameter ", i, " '",
                             StrJoin(kernel.parameters[i], " "),
                             "': no tensor goes to ", token,
                             "; write __global T*, image2d_t or "
                             "image2d_array_t");
    }
  }
  return OkStatus();
}

}  // namespace

Status CheckImageTypes(const ir::UserLaunch& launch) {
  Status status;
  for (const kernels::KernelText& kernel :
       kernels::DefinitionsOf(launch.function, launch.text)) {
    status = CheckDefinition(launch.function, kernel);
    if (status.ok()) return status;  // the preprocessor may choose this one
  }
  return status;
}

}  // namespace tim::device
