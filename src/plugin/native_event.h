// An event of a device that has streams of its own.
#ifndef TIM_PLUGIN_NATIVE_EVENT_H_
#define TIM_PLUGIN_NATIVE_EVENT_H_

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "base/status.h"
#include "device/device.h"
#include "plugin/done_call.h"
#include "plugin/plugin_device.h"
#include "tim/plugin/tim_plugin.h"

namespace tim::plugin {

class NativeEvent final : public device::Event {
 public:
  NativeEvent(PluginDevice& device, TimEvent* handle)
      : device_(device), handle_(handle) {}
  ~NativeEvent() override;

  /// The event is about to be recorded again.
  void Reset();
  TimEvent* handle() const { return handle_; }
  PluginDevice& device() const { return device_; }

  Status Wait() override;
  Status Failure() override { return Wait(); }
  bool Ready() override;

 private:
  Result<bool> Query();
  Result<bool> AskForCall();
  Status DoWait();
  Status WaitOutside(std::chrono::seconds limit);

  PluginDevice& device_;
  TimEvent* const handle_;
  std::mutex mutex_;
  std::optional<Status> status_;    // of Wait()
  std::unique_ptr<DoneCall> done_;  // null: the device is to make no call
  bool call_refused_ = false;       // on_done() failed for this recording
};

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_NATIVE_EVENT_H_
