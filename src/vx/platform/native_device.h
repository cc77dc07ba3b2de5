#ifndef TIM_VX_PLATFORM_NATIVE_DEVICE_H_
#define TIM_VX_PLATFORM_NATIVE_DEVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/device_pool.h"
#include "tim/vx/platform/native.h"
#include "vx/platform/run_queue.h"

namespace tim::vx::platform {

/// A device as the platform knows it.
struct DeviceEntry {
  uint32_t id = 0;
  std::string name;
  uint32_t cores = 1;
  /// What graphs on these cores run on.
  std::function<Result<device::Devices>(device::CoreRange cores)> open;
};

class NativeDevice::Impl {
 public:
  explicit Impl(DeviceEntry device)
      : entry(std::move(device)), queue(queues->Add()) {}

  const DeviceEntry entry;
  const std::shared_ptr<Queues> queues = std::make_shared<Queues>();
  const std::shared_ptr<RunQueue> queue;       // of graphs
  std::vector<std::shared_ptr<Graph>> graphs;  // submitted; ForkMutex()
};

/// What Enumerate() makes; tests have devices of their own.
std::shared_ptr<NativeDevice> MakeDevice(DeviceEntry entry);

}  // namespace tim::vx::platform

#endif  // TIM_VX_PLATFORM_NATIVE_DEVICE_H_
