// What the interfaces do by themselves.
#include "tim/vx/platform/platform.h"

#include <utility>

#include "vx/core/failure.h"
#include "vx/platform/native_executor.h"

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

std::string IDevice::Name() const { return StrCat("device ", Id()); }

// Of a class of a client, which knows no callbacks: it runs at once.
bool IExecutor::Trigger(bool, IDevice::async_callback callback) {
  const Status status = StatusOf([&] { return Trigger(false); });
  Tell(callback, status);
  return status.ok();
}

void IExecutable::GetOutput(
    const std::vector<std::shared_ptr<ITensorHandle>>&) {
  WaitForQueue(Executor());
}

}  // namespace tim::vx::platform
