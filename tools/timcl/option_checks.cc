// Checks texts of options that CLI11 has no checks, or no clear messages, for.
#include "tools/timcl/option_checks.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>

#include "base/options.h"
#include "device/device_sources.h"
#include "runtime/device_names.h"
#include "runtime/named_plugins.h"

namespace tim::tool {

std::string CheckDevice(const std::string& text) {
  constexpr char kListed[] = "; `timcl devices` lists what there is";
  const auto names = runtime::ParseDeviceNames(text);
  if (!names.ok()) return names.status().message() + kListed;
  static constexpr std::string_view kKinds[] = {"host", "opencl", "auto",
                                                "all"};
  for (const runtime::DeviceName& name : *names) {
    if (std::find(std::begin(kKinds), std::end(kKinds), name.kind) !=
        std::end(kKinds)) {
      continue;
    }
    runtime::LoadNamedPlugins(GetOptions());
    if (!device::FindDeviceSource(name.kind)) {
      return "'" + text + "' names no device" + kListed;
    }
  }
  return "";
}

std::string CheckTolerance(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop == end && std::isfinite(number) &&
      number >= 0) {
    return "";
  }
  return "'" + text + "' is no number from 0 on";
}

}  // namespace tim::tool
