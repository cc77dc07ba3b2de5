// Finds the devices that TIMCL_GRAPH_OFFLOAD and engine_options name, and tells
// what does not run there.
#include "graph_api/offload.h"

#include <charconv>
#include <string_view>
#include <system_error>

#include "base/options.h"
#include "device/opencl/opencl_device.h"
#include "graph_api/verbose.h"
#include "runtime/device_pool.h"

namespace tim::graph {
namespace {

// The number of the OpenCL device that the name is of, or -1.
int NumberOf(const std::string& name) {
  if (name == "opencl") return 0;
  constexpr std::string_view kPrefix = "opencl:";
  if (!name.starts_with(kPrefix)) return -1;
  int number = -1;
  const char* const end = name.data() + name.size();
  const auto parsed =
      std::from_chars(name.data() + kPrefix.size(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end ? number : -1;
}

}  // namespace

Result<device::Devices> OffloadDevices(const std::string& name) {
  const DeviceOptions& options = GetOptions().on_device;
  if (name == "host") return runtime::SelectDevices(name, options);
  const int number = NumberOf(name);
  if (number < 0) {
    return InvalidArgument("an engine is to offload to '", name,
                           "', which names no device; expected opencl, "
                           "opencl:<number> or host");
  }
  const int count = device::CountOpenClDevices();
  if (number >= count) {
    return InvalidArgument("an engine is to offload to '", name,
                           "'; this machine has ", count,
                           " OpenCL devices, numbered from 0");
  }
  return runtime::SelectListedDevice(static_cast<uint32_t>(number), {}, "",
                                     options);
}

bool RefusesHostSteps(const Engine& engine) {
  return engine.offloaded() && GetOptions().strict;
}

void ReportHostSteps(const ir::Plan& plan, const Engine& engine) {
  if (!engine.offloaded() || engine.devices().size() < 2 ||
      !verbose::Wants(kVerboseDispatch)) {
    return;
  }
  std::string labels;
  int steps = 0;
  for (const ir::Step& step : plan.steps) {
    if (step.device != 0) continue;
    labels += (steps++ == 0 ? "" : " ") + step.label;
  }
  if (steps == 0) return;
  verbose::Dispatch(StrCat(
      plan.graph, ": the host does ", steps, " of ", plan.steps.size(),
      " steps, which ", engine.device()->info().name, " does not: ", labels));
}

}  // namespace tim::graph
