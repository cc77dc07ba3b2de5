#include "runtime/compile_options.h"

namespace tim::runtime {

compiler::CompileOptions CompileOptionsFor(
    std::span<const std::shared_ptr<device::Device>> devices) {
  compiler::CompileOptions options;
  for (const auto& device : devices) options.devices.push_back(device->info());
  return options;
}

}  // namespace tim::runtime
