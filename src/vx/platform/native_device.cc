#include "vx/platform/native_device.h"

#include <mutex>
#include <utility>

#include "base/fork/fork.h"
#include "base/guarded.h"
#include "base/options.h"
#include "runtime/named_plugins.h"
#include "tim/vx/platform/lite/lite_native.h"
#include "vx/core/failure.h"
#include "vx/core/graph_core.h"
#include "vx/graph/graph_impl.h"
#include "vx/platform/native_executor.h"

namespace tim::vx::platform {

bool LiteNativeDevice::vip_initialized = true;

namespace {

// Keeps the graph.
QueuedRun QueuedRunOf(const std::shared_ptr<Graph>& graph) {
  QueuedRun queued{
      .run = [graph] { return StatusOf([&] { return graph->Run(); }); }};
  if (const auto own = std::dynamic_pointer_cast<GraphImpl>(graph)) {
    queued.try_start = [own](const EventPtr& after) {
      std::vector<EventPtr> before;
      if (after != nullptr) before.push_back(after);
      return own->TryStart(std::move(before));
    };
  }
  return queued;
}

}  // namespace

std::shared_ptr<NativeDevice> MakeDevice(DeviceEntry entry) {
  return std::make_shared<NativeDevice>(
      std::make_unique<NativeDevice::Impl>(std::move(entry)));
}

std::vector<std::shared_ptr<IDevice>> NativeDevice::Enumerate() {
  std::vector<std::shared_ptr<IDevice>> devices;
  const Status status = GuardedCall([&] {
    runtime::LoadNamedPlugins(GetOptions());
    for (const runtime::ListedDevice& listed : runtime::ListDevices()) {
      const auto id = static_cast<uint32_t>(devices.size());
      const auto open = [id](device::CoreRange cores) {
        return runtime::SelectListedDevice(id, cores, GetOptions().device,
                                           GetOptions().on_device);
      };
      devices.push_back(
          MakeDevice({.id = id,
                      .name = listed.name,
                      .cores = static_cast<uint32_t>(listed.cores),
                      .open = open}));
    }
    return OkStatus();
  });
  if (!status.ok()) Fail(status);
  return devices;
}

NativeDevice::NativeDevice(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {
  device_id_ = impl_->entry.id;
  core_count_ = impl_->entry.cores;
}

NativeDevice::~NativeDevice() = default;

std::string NativeDevice::Name() const { return impl_->entry.name; }

std::shared_ptr<IExecutor> NativeDevice::CreateExecutor(
    const int32_t core_index, const int32_t core_count,
    const std::shared_ptr<Context>& context) {
  std::shared_ptr<NativeExecutor> executor;
  const Status status = GuardedCall([&] {
    executor = std::make_shared<NativeExecutor>(shared_from_this(), core_index,
                                                core_count, context);
    return OkStatus();
  });
  if (!status.ok()) Fail(status);
  return executor != nullptr && executor->impl().problem.ok() ? executor
                                                              : nullptr;
}

bool NativeDevice::Submit(const std::shared_ptr<Graph>& graph) {
  const auto core = CoreOf(graph.get());
  if (core == nullptr) {
    return Fail(InvalidArgument("Submit() of device ", Id(),
                                " needs a graph of this library"));
  }
  core->options.setDeviceId(Id());
  const std::lock_guard lock(ForkMutex());
  impl_->graphs.push_back(graph);
  return true;
}

bool NativeDevice::Trigger(bool async, async_callback cb) {
  std::vector<std::shared_ptr<Graph>> graphs;
  {
    const std::lock_guard lock(ForkMutex());
    graphs.swap(impl_->graphs);
  }
  if (graphs.empty()) {
    return Fail(FailedPrecondition("Trigger() of device ", Id(),
                                   ": nothing was submitted since the last"));
  }
  std::vector<QueuedRun> runs;
  for (const auto& graph : graphs) runs.push_back(QueuedRunOf(graph));
  // The device may be destroyed meanwhile.
  const std::shared_ptr<RunQueue> queue = impl_->queue;
  return queue->Launch(std::move(runs), ModeOf(async), std::move(cb));
}

void NativeDevice::WaitDeviceIdle() { impl_->queues->Wait(); }

bool NativeDevice::DeviceExit() {
  WaitDeviceIdle();
  return true;
}

}  // namespace tim::vx::platform
