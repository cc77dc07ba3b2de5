// Devices of the process as values use them.
#ifndef TIM_VALUES_DEVICE_STATE_H_
#define TIM_VALUES_DEVICE_STATE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "device/device.h"
#include "runtime/node_runner.h"
#include "runtime/ready_graph.h"
#include "runtime/work_stream.h"
#include "tim/values/device.h"

namespace tim::values::internal {

/// A device with the host beside it, its stream, and the nodes that run there.
/// Any thread; the process keeps it.
class DeviceState {
 public:
  /// The device of this name, "" for the default one; status() tells where
  /// there is none.
  static std::shared_ptr<DeviceState> Find(const std::string& spec);
  static std::shared_ptr<DeviceState> Default();
  static void SetDefault(std::shared_ptr<DeviceState> state);
  /// The host as a device.
  static std::shared_ptr<DeviceState> Host() { return Find("host"); }
  /// The device of a cl_device_id that works in a client's cl_context.
  static std::shared_ptr<DeviceState> InContext(void* device, void* context);
  /// The device that the memory of `stream` is on.
  static std::shared_ptr<DeviceState> Of(const runtime::WorkStream& stream);

  const std::string& spec() const { return spec_; }
  /// The reason why the device cannot be used, else OK.
  const Status& status() const { return status_; }
  /// Whether work has found that one of the devices is lost: Find() opens them
  /// again, as another state.
  bool is_lost() const;
  /// A run of a program has found that.
  void SetLost() { is_lost_ = true; }
  bool is_host() const { return runner_->stream()->is_host(); }
  runtime::NodeRunner& runner() const { return *runner_; }
  runtime::WorkStream& stream() const { return *runner_->stream(); }
  device::Device& device() const { return runner_->stream()->device(); }
  /// Surroundings of graphs on host and device, with all known operators.
  runtime::Surroundings surroundings() const;
  /// Streams, one per device of a graph.  Single nodes use the first two,
  /// graphs all of them.
  const runtime::WorkStreams& streams() const { return streams_; }
  /// Index of the device that values of graphs are on.
  int main_device() const { return devices_.size() > 1 ? 1 : 0; }

 private:
  friend struct Process;
  // The mutex of the process is held.
  Status Open();
  Status OpenInContext(void* device, void* context);
  Status Start();

  std::string spec_;
  Status status_;
  device::Devices devices_;
  runtime::WorkStreams streams_;
  std::unique_ptr<runtime::NodeRunner> runner_;
  std::atomic<bool> is_lost_ = false;
  bool is_clients_ = false;  ///< It works in a context of a client.
};

/// Programs that were built from source for this front.
int64_t ProgramBuilds();
/// Counts summed over all devices, lost ones too.
runtime::NodeRunnerStats RunnerStats();

}  // namespace tim::values::internal

#endif  // TIM_VALUES_DEVICE_STATE_H_
