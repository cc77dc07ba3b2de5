// The list of providers of devices.
#include "device/device_sources.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/fork/per_process.h"

namespace tim::device {
namespace {

struct Sources {
  std::mutex mutex;
  std::vector<DeviceSource> list;
};

constinit GlobalPerProcess<Sources> g_sources;

}  // namespace

Status AddDeviceSource(DeviceSource source) {
  Sources& sources = g_sources.Get();
  const std::lock_guard lock(sources.mutex);
  const bool taken =
      source.kind == "host" || source.kind == "opencl" ||
      std::any_of(sources.list.begin(), sources.list.end(),
                  [&](const auto& one) { return one.kind == source.kind; });
  if (taken) {
    return FailedPrecondition("there are devices of kind '", source.kind,
                              "' already");
  }
  sources.list.push_back(std::move(source));
  return OkStatus();
}

bool RemoveDeviceSource(const std::string& kind) {
  Sources& sources = g_sources.Get();
  const std::lock_guard lock(sources.mutex);
  return std::erase_if(sources.list,
                       [&](const auto& one) { return one.kind == kind; }) != 0;
}

std::optional<DeviceSource> FindDeviceSource(const std::string& kind) {
  for (DeviceSource& source : DeviceSources()) {
    if (source.kind == kind) return std::move(source);
  }
  return std::nullopt;
}

std::vector<DeviceSource> DeviceSources() {
  Sources& sources = g_sources.Get();
  const std::lock_guard lock(sources.mutex);
  return sources.list;
}

}  // namespace tim::device
