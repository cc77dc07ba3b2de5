// Devices as the public header has them.
#include "tim/values/device.h"

#include <utility>

#include "base/options.h"
#include "device/device_pools.h"
#include "runtime/device_pool.h"
#include "runtime/named_plugins.h"
#include "values/access.h"
#include "values/device_state.h"
#include "values/failure.h"
#include "values/value_state.h"

namespace tim::values {

using internal::Access;
using internal::DeviceState;

Device::Device() : state_(DeviceState::Default()) {}

Device::Device(const std::string& spec) : state_(DeviceState::Find(spec)) {
  if (!ok()) internal::Fail(state_->status());
}

Device::Device(std::shared_ptr<DeviceState> state) : state_(std::move(state)) {}

std::vector<Device> Device::List() {
  runtime::LoadNamedPlugins(GetOptions());
  std::vector<Device> list;
  for (const runtime::ListedDevice& listed : runtime::ListDevices()) {
    if (listed.spec != "host") list.emplace_back(listed.spec);
  }
  list.emplace_back("host");
  return list;
}

bool Device::SetDefault(const Device& device) {
  if (!device.ok()) {
    internal::Fail(device.state_->status());
    return false;
  }
  DeviceState::SetDefault(device.state_);
  return true;
}

bool Device::ok() const { return state_->status().ok(); }

std::string Device::spec() const { return state_->spec(); }

std::string Device::name() const {
  return ok() ? state_->device().info().name : "";
}

Value Device::FromHost(const Spec& spec, const void* data) const {
  return Move(Value::FromHost(spec, data));
}

Value Device::ToHost(const Value& value) const {
  return Device("host").Move(value);
}

Value Device::Move(const Value& value) const {
  if (!ok()) return internal::FailedValue(state_->status());
  const auto state = internal::StateOf(value);
  const Status status = state->Force();
  if (!status.ok()) return internal::FailedValue(status);
  const auto now = state->device();
  if (now == state_ && state->constant() == nullptr) return value;
  auto place = state->On(*state_);
  if (!place.ok()) return internal::FailedValue(place.status());
  return internal::MakeValue(
      internal::ValueState::Placed(state->spec(), *std::move(place)));
}

Device::Memory Device::memory() const {
  if (!ok()) return {-1, -1, -1};
  static_cast<void>(state_->stream().Drain());
  const device::PoolStats stats =
      state_->device().pools().Of(ir::MemoryKind::kDevice).stats();
  return {stats.in_use, stats.reserved, stats.peak_in_use};
}

int64_t Device::Trim() const {
  if (!ok()) return 0;
  // Memory that was let go last is behind an event of its own: work after it.
  static_cast<void>(
      state_->stream().Enqueue([](device::Stream&) { return OkStatus(); }));
  static_cast<void>(state_->stream().Drain());
  return state_->device().pools().Trim(0);
}

}  // namespace tim::values
