// Profiles as plain data.
#include "tim/vx/profile.h"

#include "graph.h"
#include "python_call.h"
#include "tim/vx/error.h"

namespace timcl {
namespace {

nb::dict ToPython(const vx::ProfiledDevice& device) {
  nb::dict data;
  data["name"] = Text(device.name);
  data["gflops"] = device.gflops;
  data["gbytes_per_second"] = device.gbytes_per_second;
  data["launch_us"] = device.launch_us;
  return data;
}

nb::dict ToPython(const vx::ProfiledOperation& operation) {
  nb::list refused;
  for (const std::string& reason : operation.refused) {
    refused.append(Text(reason));
  }
  nb::dict data;
  data["name"] = Text(operation.name);
  data["type"] = Text(operation.type);
  data["device"] = operation.device;
  data["kernel"] = Text(operation.kernel);
  data["chosen"] = Text(operation.chosen);
  data["refused"] = nb::tuple(refused);
  data["calls"] = operation.calls;
  data["launches"] = operation.launches;
  data["microseconds"] = operation.microseconds;
  data["share"] = operation.share;
  data["clock"] =
      operation.clock == vx::ProfileClock::DEVICE ? "device" : "host";
  data["operations"] = operation.operations;
  data["bytes"] = operation.bytes;
  data["gflops"] = operation.gflops;
  data["gbytes_per_second"] = operation.gbytes_per_second;
  return data;
}

}  // namespace

nb::dict Graph::Profile(int runs) {
  ForgetCause();
  std::string error;
  const vx::GraphProfile profile = InLibrary([&] {
    std::lock_guard<std::mutex> lock(mutex_);
    auto made = graph_->Profile(runs);
    if (!made) error = vx::LastError();
    return made;
  });
  if (!profile) Raise("RunError", error);
  nb::list devices;
  nb::list operations;
  for (const auto& device : profile.devices) devices.append(ToPython(device));
  for (const auto& operation : profile.operations) {
    operations.append(ToPython(operation));
  }
  nb::dict data;
  data["graph"] = Text(profile.graph);
  data["runs"] = profile.runs;
  data["microseconds"] = profile.microseconds;
  data["devices"] = devices;
  data["operations"] = operations;
  data["text"] = Text(vx::ToString(profile));
  return data;
}

}  // namespace timcl
