#include "runtime/device_pool.h"

#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "base/fork/per_process.h"
#include "base/log.h"
#include "device/device_sources.h"
#include "device/host/host_device.h"
#include "runtime/device_names.h"
#include "runtime/device_set.h"

namespace tim::runtime {
namespace {

using device::CoreRange;
using device::Device;

constexpr int kHost = -1;

// Devices in use by their number and cores; those that watch users' kernels are
// others.  Weak, so that none outlives its last context: drivers do not like to
// be called while the process ends.
struct SharedDevices {
  using Key = std::tuple<int, CoreRange, bool>;
  std::mutex mutex;
  std::map<Key, std::weak_ptr<Device>> devices;
  bool warned = false;
};

// Held while devices are made, which takes long.
constinit GlobalPerProcess<SharedDevices> g_shared;

SharedDevices& Shared() { return g_shared.Get(); }

// The caller holds the mutex.
Result<std::shared_ptr<Device>> Share(int number, const DeviceOptions& options,
                                      CoreRange cores = {}) {
  std::weak_ptr<Device>& shared =
      Shared().devices[{number, cores, options.guard}];
  if (auto device = shared.lock()) return device;
  std::shared_ptr<Device> made;
  if (number == kHost) {
    made = device::CreateHostDevice(options);
  } else {
    TIM_ASSIGN_OR_RETURN(made,
                         device::CreateOpenClDevice(number, options, cores));
  }
  shared = made;
  return made;
}

void WarnOnce(const std::string& reason) {
  if (Shared().warned) return;
  Shared().warned = true;
  TIM_LOG(kWarning, "graphs run on the host, which is slow: ", reason,
          "; TIMCL_DEVICE=host asks for it without this warning");
}

// The number of a device of the list that `wanted` names, if it is one.
std::optional<int> NumberIn(const std::string& wanted, int host) {
  const auto names = ParseDeviceNames(wanted);
  if (!names.ok() || names->size() != 1) return std::nullopt;
  const DeviceName& name = names->front();
  if (name.kind == "host") return host;
  if (name.kind != "opencl" || name.parts != 0 || name.by_memory) {
    return std::nullopt;
  }
  return name.number.value_or(0);
}

std::string NamesOf(const std::vector<ListedDevice>& list) {
  std::string names;
  for (size_t i = 0; i < list.size(); ++i) {
    names += StrCat(i == 0 ? "" : ", ", i, " '", list[i].name, "'");
  }
  return names;
}

}  // namespace

Result<Devices> SelectDevices(const std::string& wanted,
                              const DeviceOptions& options) {
  if (!wanted.empty()) {
    auto set = OpenDevices(wanted, options);
    if (set.ok()) return std::move(set->devices);
    return set.status().WithContext(StrCat("TIMCL_DEVICE=", wanted));
  }
  TIM_ASSIGN_OR_RETURN(std::shared_ptr<Device> host, ShareHost(options));
  TIM_RETURN_IF_ERROR(device::CheckOpenClProcess());
  auto opencl = ShareOpenCl(0, options);
  if (opencl.ok()) return Devices{host, *std::move(opencl)};
  const std::lock_guard lock(Shared().mutex);
  WarnOnce(opencl.status().message());
  return Devices{host};
}

Result<std::shared_ptr<Device>> ShareHost(const DeviceOptions& options) {
  const std::lock_guard lock(Shared().mutex);
  return Share(kHost, options);
}

Result<std::shared_ptr<Device>> ShareOpenCl(int number,
                                            const DeviceOptions& options) {
  const std::lock_guard lock(Shared().mutex);
  return Share(number, options);
}

void ForgetDevice(const Device& device) {
  ForgetGroupsOf(device);
  const std::lock_guard lock(Shared().mutex);
  std::erase_if(Shared().devices, [&](const auto& entry) {
    return entry.second.lock().get() == &device;
  });
}

std::vector<ListedDevice> ListDevices() {
  std::vector<ListedDevice> list;
  for (const device::OpenClDeviceFacts& facts : device::ListOpenClDevices()) {
    list.push_back({.name = StrCat("opencl: ", facts.name),
                    .spec = StrCat("opencl:", list.size()),
                    .cores = facts.cores});
  }
  list.push_back({.name = "host", .spec = "host"});
  for (const device::DeviceSource& source : device::DeviceSources()) {
    const auto offered = source.list();
    for (size_t i = 0; i < offered.size(); ++i) {
      list.push_back({.name = StrCat(source.kind, ": ", offered[i].info.name),
                      .spec = StrCat(source.kind, ":", i)});
    }
  }
  return list;
}

Result<Devices> SelectListedDevice(uint32_t number, CoreRange cores,
                                   const std::string& wanted,
                                   const DeviceOptions& options) {
  const std::vector<ListedDevice> list = ListDevices();
  const int host = device::CountOpenClDevices();
  if (!wanted.empty()) {
    const auto named = NumberIn(wanted, host);
    if (!named || std::cmp_not_equal(*named, number)) {
      return SelectDevices(wanted, options);
    }
  }
  if (std::cmp_greater_equal(number, list.size())) {
    return InvalidArgument("device ", number, " does not exist; there are ",
                           list.size(), ": ", NamesOf(list));
  }
  if (std::cmp_greater(number, host)) {
    TIM_ASSIGN_OR_RETURN(DeviceSet set,
                         OpenDevices(list[number].spec, options));
    return std::move(set.devices);
  }
  // All cores are the device itself, which other contexts may have.
  if (cores == CoreRange{0, list[number].cores}) cores = {};
  const std::lock_guard lock(Shared().mutex);
  Devices devices;
  TIM_ASSIGN_OR_RETURN(devices.emplace_back(), Share(kHost, options));
  if (std::cmp_equal(number, host)) return devices;
  TIM_ASSIGN_OR_RETURN(devices.emplace_back(),
                       Share(static_cast<int>(number), options, cores));
  return devices;
}

}  // namespace tim::runtime
