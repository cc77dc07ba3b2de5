// Streams of plug-ins' devices: their own, or those that a thread stands for.
#ifndef TIM_PLUGIN_PLUGIN_STREAM_H_
#define TIM_PLUGIN_PLUGIN_STREAM_H_

#include <memory>
#include <mutex>
#include <span>

#include "base/status.h"
#include "device/device.h"
#include "plugin/plugin_device.h"

namespace tim::plugin {

/// A stream of a device that has none: its calls are made by the device's
/// worker.
class WorkerStream final : public device::Stream {
 public:
  static Result<std::unique_ptr<device::Stream>> Create(PluginDevice& device);
  ~WorkerStream() override;

  Status Enqueue(device::PreparedStep& step,
                 std::span<const device::BufferRange> operands) override;
  Status Copy(device::BufferRange source,
              device::BufferRange destination) override;
  Result<std::unique_ptr<device::Event>> Record(
      std::unique_ptr<device::Event> done) override;
  Status WaitFor(device::Event& event) override;

 private:
  struct Errors;
  explicit WorkerStream(PluginDevice& device);
  Status Post(std::function<Status()> work);

  PluginDevice& device_;
  const std::shared_ptr<Errors> errors_;
};

class NativeStream final : public device::Stream {
 public:
  static Result<std::unique_ptr<device::Stream>> Create(PluginDevice& device);
  ~NativeStream() override;

  Status Enqueue(device::PreparedStep& step,
                 std::span<const device::BufferRange> operands) override;
  Status Copy(device::BufferRange source,
              device::BufferRange destination) override;
  Result<std::unique_ptr<device::Event>> Record(
      std::unique_ptr<device::Event> done) override;
  Status WaitFor(device::Event& event) override;

 private:
  NativeStream(PluginDevice& device, TimStream* handle);
  Status Finish();

  PluginDevice& device_;
  TimStream* const handle_;
};

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_PLUGIN_STREAM_H_
