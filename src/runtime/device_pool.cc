#include "runtime/device_pool.h"

#include <charconv>
#include <map>
#include <mutex>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/fork/per_process.h"
#include "base/log.h"
#include "device/host/host_device.h"

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

// The number of the OpenCL device that "", "opencl" or "opencl:<n>" names.
Result<int> NumberOf(const std::string& wanted) {
  if (wanted.empty() || wanted == "opencl") return 0;
  constexpr std::string_view kPrefix = "opencl:";
  int number = -1;
  const char* end = wanted.data() + wanted.size();
  if (wanted.starts_with(kPrefix)) {
    const auto parsed =
        std::from_chars(wanted.data() + kPrefix.size(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end) number = -1;
  }
  if (number >= 0) return number;
  return InvalidArgument("TIMCL_DEVICE=", wanted,
                         " names no device; expected host, opencl or "
                         "opencl:<number>");
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
  const std::lock_guard lock(Shared().mutex);
  TIM_ASSIGN_OR_RETURN(std::shared_ptr<Device> host, Share(kHost, options));
  if (wanted == "host") return Devices{host};
  TIM_ASSIGN_OR_RETURN(const int number, NumberOf(wanted));
  TIM_RETURN_IF_ERROR(device::CheckOpenClProcess());
  auto opencl = Share(number, options);
  if (opencl.ok()) return Devices{host, *std::move(opencl)};
  if (!wanted.empty()) {
    return opencl.status().WithContext(
        StrCat("TIMCL_DEVICE=", wanted, " is not there"));
  }
  WarnOnce(opencl.status().message());
  return Devices{host};
}

std::vector<ListedDevice> ListDevices() {
  std::vector<ListedDevice> list;
  for (const device::OpenClDeviceFacts& facts : device::ListOpenClDevices()) {
    list.push_back(
        {.name = StrCat("opencl: ", facts.name), .cores = facts.cores});
  }
  list.push_back({.name = "host"});
  return list;
}

Result<Devices> SelectListedDevice(uint32_t number, CoreRange cores,
                                   const std::string& wanted,
                                   const DeviceOptions& options) {
  const std::vector<ListedDevice> list = ListDevices();
  const int host = static_cast<int>(list.size()) - 1;
  if (!wanted.empty()) {
    int named = host;
    if (wanted != "host") {
      TIM_ASSIGN_OR_RETURN(named, NumberOf(wanted));
    }
    if (std::cmp_not_equal(named, number))
      return SelectDevices(wanted, options);
  }
  if (std::cmp_greater(number, host)) {
    return InvalidArgument("device ", number, " does not exist; there are ",
                           list.size(), ": ", NamesOf(list));
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
