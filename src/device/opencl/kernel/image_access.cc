#include "device/opencl/kernel/image_access.h"

#include <string_view>

#include "kernels/text/kernel_text.h"
#include "kernels/text/user_macros.h"

namespace tim::device {
namespace {

struct Qualifier {
  ImageAccess access;
  std::string_view words[2];
};
constexpr Qualifier kQualifiers[] = {
    {ImageAccess::kReadOnly, {"__read_only", "read_only"}},
    {ImageAccess::kWriteOnly, {"__write_only", "write_only"}},
    {ImageAccess::kReadWrite, {"__read_write", "read_write"}},
};

ImageAccess AccessOf(const std::vector<std::string_view>& parameter,
                     const kernels::UserMacros& macros) {
  ImageAccess said = ImageAccess::kNotSaid;
  for (const std::string_view token : parameter) {
    for (const Qualifier& qualifier : kQualifiers) {
      if (!macros.Means(token, qualifier.words)) continue;
      // Branches of the preprocessor say different things.
      if (said != ImageAccess::kNotSaid && said != qualifier.access) {
        return ImageAccess::kNotSaid;
      }
      said = qualifier.access;
    }
  }
  return said;
}

}  // namespace

std::vector<ImageAccess> ImageAccessOf(const ir::UserLaunch& launch,
                                       size_t count) {
  const kernels::UserMacros macros(launch.text, launch.options);
  std::vector<ImageAccess> all(count, ImageAccess::kNotSaid);
  bool first = true;
  for (const kernels::KernelText& kernel :
       kernels::DefinitionsOf(launch.function, launch.text)) {
    // A macro may stand for several parameters.
    if (kernel.parameters.size() != count) {
      return std::vector<ImageAccess>(count, ImageAccess::kNotSaid);
    }
    for (size_t i = 0; i < count; ++i) {
      const ImageAccess access = AccessOf(kernel.parameters[i], macros);
      all[i] = first || all[i] == access ? access : ImageAccess::kNotSaid;
    }
    first = false;
  }
  return all;
}

}  // namespace tim::device
