// Knows devices behind a network by their texts, and what they lack.
#include "device/opencl/driver/remote_device.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"

namespace tim::device {
namespace {

constexpr std::string_view kMark = "pocl-remote";

// Figures of a server on the same machine: others cost more.
constexpr double kLaunchMicroseconds = 100;
constexpr double kLinkMicroseconds = 250;
constexpr double kLinkGigabytesPerSecond = 1.5;

bool Names(std::string_view text) {
  const auto found =
      std::search(text.begin(), text.end(), kMark.begin(), kMark.end(),
                  [](char a, char b) { return AsciiLower(a) == b; });
  return found != text.end();
}

}  // namespace

bool IsRemote(std::string_view version, std::string_view name) {
  return Names(version) || Names(name);
}

bool IsRemote(const cl::Device& device) {
  return IsRemote(device.getInfo<CL_DEVICE_VERSION>(),
                  device.getInfo<CL_DEVICE_NAME>());
}

void AdaptToNetwork(ir::DeviceInfo* info) {
  info->remote = true;
  info->driver += ", remote";
  info->unified_memory = false;
  info->orders_stores = false;
  info->has_vnni = false;
  info->has_amx = false;
  info->chains = false;
  info->chains_singles = false;
  info->launch_us = kLaunchMicroseconds;
  info->link_latency_us = kLinkMicroseconds;
  info->link_gbytes_per_second = kLinkGigabytesPerSecond;
}

}  // namespace tim::device
