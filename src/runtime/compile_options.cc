// Tells the compiler of devices, and which of them share memory.
#include "runtime/compile_options.h"

#include "runtime/links.h"

namespace tim::runtime {

compiler::CompileOptions CompileOptionsFor(
    std::span<const std::shared_ptr<device::Device>> devices) {
  compiler::CompileOptions options;
  for (const auto& device : devices) options.devices.push_back(device->info());
  if (devices.size() > 2) {
    options.links = LinksOf({devices.begin(), devices.end()}, nullptr);
  }
  return options;
}

}  // namespace tim::runtime
