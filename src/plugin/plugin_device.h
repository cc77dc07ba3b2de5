// A device of a plug-in.
#ifndef TIM_PLUGIN_PLUGIN_DEVICE_H_
#define TIM_PLUGIN_PLUGIN_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "base/worker.h"
#include "device/device.h"
#include "device/device_pools.h"
#include "device/pool_allocator.h"
#include "plugin/loaded_plugin.h"
#include "plugin/plugin_programs.h"
#include "tim/plugin/tim_plugin.h"

namespace tim::plugin {

/// Asks a plug-in what its device is.  kInvalidArgument where it says something
/// out of range; a device that is not usable has a score of 0 and a reason.
struct Described {
  TimDeviceProps props{};
  std::string reason;
};
Result<Described> Describe(const LoadedPlugin& plugin, uint32_t number);

class PluginDevice final : public device::Device,
                           public std::enable_shared_from_this<PluginDevice> {
 public:
  static Result<std::shared_ptr<PluginDevice>> Open(
      std::shared_ptr<const LoadedPlugin> plugin, uint32_t number,
      int64_t pool_bytes);
  ~PluginDevice() override;

  const ir::DeviceInfo& info() const override { return info_; }
  const void* domain() const override;
  bool CanCopyFrom(const Device& other) const override;
  Result<std::unique_ptr<device::Buffer>> Allocate(
      int64_t bytes, ir::MemoryKind kind) override;
  device::DevicePools& pools() override { return pools_; }
  Result<std::unique_ptr<device::Buffer>> Import(void* memory,
                                                 int64_t bytes) override;
  Result<std::unique_ptr<device::Stream>> CreateStream() override;
  device::PreparedSteps PrepareEach(std::span<const ir::Action* const> steps,
                                    const ir::OpRegistry& operators,
                                    device::BinaryStore& store) override;
  void* NativeHandle(std::string_view name) const override;
  Status CheckUsable() const override;

  const LoadedPlugin& plugin() const { return *plugin_; }
  const std::shared_ptr<const LoadedPlugin>& shared_plugin() const {
    return plugin_;
  }
  const TimDeviceFns& functions() const { return plugin_->tables().device; }
  const TimDeviceProps& props() const { return props_; }
  TimDevice* handle() const { return handle_; }
  bool thread_safe() const {
    return (props_.flags & TIM_DEVICE_THREAD_SAFE) != 0;
  }
  bool has_streams() const { return functions().create_stream != nullptr; }
  /// Does the work of all streams of a device that has none.
  Worker& worker() { return worker_; }

  /// Calls a function of the device that takes a TimMessage* last, alone where
  /// the device is not thread-safe.
  template <typename Function, typename... Args>
  Status Call(const char* name, Function function, Args... args) {
    TIM_RETURN_IF_ERROR(CheckUsable());
    const auto lock = Serialize();
    Status status = plugin_->Call(name, function, handle_, args...);
    if (status.code() == StatusCode::kDeviceLost) lost_ = true;
    return status;
  }
  /// The same of a function that gives nothing: not once the device is stuck,
  /// whose work may still use what would be given back.
  template <typename Function, typename... Args>
  void Tell(const char* name, Function function, Args... args) {
    if (stuck_ || function == nullptr) return;
    const auto lock = Serialize();
    plugin_->Tell(name, function, handle_, args...);
  }

  /// TimDeviceFns::copy_peer from `peer` to this device.
  Status CopyFrom(PluginDevice& peer, TimRange from, TimStream* stream,
                  TimRange to);

  /// Its work did not end within the time limit: nothing of it is used or given
  /// back any more.
  Status GetStuck();
  bool stuck() const { return stuck_; }

  /// TimHost::pool_allocate and pool_release.
  Status PoolAllocate(uint64_t bytes, TimRange* out);
  void PoolRelease(const TimRange& range, TimStream* last_user);
  /// Streams by their handles, for pool_release().
  void AddStream(TimStream* handle, device::Stream* stream);
  void RemoveStream(TimStream* handle);

 private:
  PluginDevice(std::shared_ptr<const LoadedPlugin> plugin, TimDevice* handle,
               Described described, int64_t pool_bytes);
  std::unique_lock<std::recursive_mutex> Serialize();
  Result<std::unique_ptr<device::PreparedStep>> PrepareOne(
      const ir::Action& action, device::BinaryStore& store);

  const std::shared_ptr<const LoadedPlugin> plugin_;
  TimDevice* const handle_;
  const TimDeviceProps props_;
  const ir::DeviceInfo info_;
  std::atomic<bool> lost_ = false;
  std::atomic<bool> stuck_ = false;
  std::recursive_mutex serial_;  // functions call the pool, which calls others
  std::mutex ranges_mutex_;
  std::map<std::pair<TimBuffer*, uint64_t>, device::PoolRange> ranges_;
  std::map<TimStream*, device::Stream*> streams_;
  Programs programs_;
  Worker worker_;
  device::DevicePools pools_;
};

/// The device with this handle that is open, or null.
std::shared_ptr<PluginDevice> FindDevice(TimDevice* handle);

/// Memory of a plug-in's device.
class PluginBuffer final : public device::Buffer {
 public:
  /// \param address null where the host does not reach it.
  PluginBuffer(PluginDevice& device, TimBuffer* handle, int64_t bytes,
               void* address)
      : device_(device), handle_(handle), bytes_(bytes), address_(address) {}
  ~PluginBuffer() override;

  int64_t bytes() const override { return bytes_; }
  void* host_address() const override { return address_; }
  Result<std::unique_ptr<device::Buffer>> View(int64_t offset,
                                               int64_t bytes) override;

  PluginDevice& device() const { return device_; }
  /// A piece of it as the plug-in knows it.
  TimRange RangeOf(int64_t offset, int64_t bytes) const {
    return {handle_, static_cast<uint64_t>(begin_ + offset),
            static_cast<uint64_t>(bytes)};
  }

 private:
  PluginDevice& device_;
  TimBuffer* const handle_;
  const int64_t bytes_;
  void* const address_;
  int64_t begin_ = 0;
  bool is_view_ = false;
};

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_PLUGIN_DEVICE_H_
