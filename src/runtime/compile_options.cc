#include "runtime/compile_options.h"

#include <utility>

namespace tim::runtime {

compiler::CompileOptions CompileOptionsFor(
    std::vector<std::shared_ptr<device::Device>> devices) {
  compiler::CompileOptions options;
  for (const auto& device : devices) options.devices.push_back(device->info());
  options.can_chain = [devices = std::move(devices)](int device,
                                                     const ir::Action& action) {
    return devices[device]->CanChain(action);
  };
  return options;
}

}  // namespace tim::runtime
