#include "device/opencl/program_source.h"

#include "base/hash.h"
#include "kernels/kernel_sources.h"

namespace tim::device {
namespace {

// OpenCL C 1.2 is what every device has; argument info checks signatures.
std::string CompleteOptions(const std::string& options) {
  const bool has_standard = options.find("-cl-std") != std::string::npos;
  return StrCat(has_standard ? "" : "-cl-std=CL1.2 ", "-cl-kernel-arg-info",
                options.empty() ? "" : " ", options);
}

// Lengths keep ("ab", "c") apart from ("a", "bc").
std::string KeyOf(const ProgramSource& source, std::string_view identity) {
  return HashText(StrCat(source.text.size(), ":", source.text,
                         source.options.size(), ":", source.options, identity))
      .ToString();
}

}  // namespace

Result<ProgramSource> SourceOf(const ir::KernelLaunch& launch,
                               std::string_view identity) {
  ProgramSource source;
  source.embedded = !launch.source.empty();
  if (source.embedded) {
    const char* text = kernels::FindSource(launch.source);
    if (text == nullptr) {
      return TIM_INTERNAL("no embedded source '", launch.source, "'");
    }
    source.name = launch.source;
    source.text = text;
  } else {
    source.name = StrCat("kernel '", launch.function, "'");
    source.text = launch.text;
  }
  source.options = CompleteOptions(launch.options);
  source.key = KeyOf(source, identity);
  return source;
}

}  // namespace tim::device
