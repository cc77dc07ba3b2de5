#include "tim/vx/platform/platform.h"

#include "tim/vx/platform/native.h"
#include "vx/failure.h"

namespace tim::vx::platform {

std::shared_ptr<IExecutable> Compile(
    const std::shared_ptr<Graph>& graph,
    const std::shared_ptr<IExecutor>& executor) {
  if (graph != nullptr && executor != nullptr) return executor->Compile(graph);
  Fail(InvalidArgument("platform::Compile() needs a graph and an executor"));
  return nullptr;
}

std::vector<std::shared_ptr<IDevice>> IDevice::Enumerate() {
  return NativeDevice::Enumerate();
}

std::vector<std::shared_ptr<IDevice>> NativeDevice::Enumerate() {
  Fail(Unimplemented("IDevice::Enumerate() is not implemented yet"));
  return {};
}

}  // namespace tim::vx::platform
