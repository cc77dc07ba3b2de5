// Opens files of graphs and plans them for devices.
#include "tools/timcl/graph_file.h"

#include <memory>
#include <utility>

#include "base/mapped_file.h"
#include "binary/graph_body.h"
#include "compiler/compiler.h"
#include "ops/builtin.h"
#include "ops/registered.h"
#include "runtime/compile_options.h"
#include "runtime/device_pool.h"
#include "runtime/named_plugins.h"
#include "runtime/stored_plan.h"
#include "tools/timcl/model_file.h"
#include "tools/timcl/model_options.h"
#include "vx/core/user_programs.h"

namespace tim::tool {

Result<binary::Blob> OpenGraphFile(const std::string& path,
                                   const ModelArguments& model) {
  if (FormatOf(path) != ModelFormat::kNone) return OpenModel(path, model);
  TIM_ASSIGN_OR_RETURN(const auto mapped, MapFile(path));
  if (!IsDefault(model)) {
    return InvalidArgument("'", path, "' is no model: --shape, --dim, ",
                           "--value, --external-data and --signature are for "
                           "models");
  }
  auto blob = binary::OpenBlob(mapped->bytes, mapped);
  if (blob.ok()) return blob;
  return NotFound("'", path, "' is not used: ", blob.status().message(),
                  "; Graph::CompileToBinary() writes such files, and names of "
                  "models end in .onnx or .tflite");
}

Status AsFailed(const Status& status) {
  const bool other = status.code() == StatusCode::kInvalidArgument ||
                     status.code() == StatusCode::kNotFound;
  if (!other) return status;
  return FailedPrecondition(status.message());
}

Result<device::Devices> DevicesFor(const std::string& device,
                                   const DeviceOptions& options) {
  runtime::LoadNamedPlugins(GetOptions());
  if (device.empty()) {
    auto devices = runtime::SelectDevices(GetOptions().device, options);
    if (devices.ok()) return devices;
    return AsFailed(devices.status());
  }
  auto set = runtime::OpenDevices(device, options);
  if (set.ok()) return std::move(set->devices);
  return AsFailed(set.status().WithContext(StrCat("--device ", device)));
}

Result<runtime::Division> DivisionFor(const std::string& device,
                                      const device::Devices& devices) {
  const auto policy = compiler::ParsePolicy(GetOptions().policy);
  if (!policy.ok()) return policy.status().WithContext("TIMCL_POLICY");
  if (devices.size() < 3) return runtime::Division{.policy = *policy};
  TIM_ASSIGN_OR_RETURN(
      const runtime::DeviceSet set,
      runtime::OpenDevices(device.empty() ? GetOptions().device : device,
                           GetOptions().on_device));
  return runtime::DivisionOf(set, *policy, vx::UserPrograms());
}

Result<ir::Graph> GraphOf(const binary::Blob& blob, ir::OpRegistry* registry) {
  auto graph =
      binary::ReadBlobGraph(blob, ops::BuiltinOperators(), registry, "file.");
  if (graph.ok()) return binary::WithoutAbsent(*graph);
  return NotFound("the file's graph cannot be used: ",
                  graph.status().message());
}

Result<PlannedGraph> PlanOf(const binary::Blob& blob,
                            const device::Devices& devices,
                            const runtime::Division& division) {
  const bool strict = GetOptions().strict;
  PlannedGraph planned;
  // A stored plan does not say how it was divided.
  auto stored =
      devices.size() > 2
          ? Result<ir::Plan>(FailedPrecondition("several devices share it"))
          : runtime::StoredPlan(blob, devices, {.strict = strict});
  if (stored.ok()) {
    planned.plan = *std::move(stored);
    return planned;
  }
  planned.stored = stored.status();
  planned.registry = std::make_shared<ir::OpRegistry>(&ops::KnownOperators());
  TIM_ASSIGN_OR_RETURN(ir::Graph graph, GraphOf(blob, planned.registry.get()));
  compiler::CompileOptions options = runtime::CompileOptionsFor(devices);
  options.was_compiled = true;
  options.strict = strict;
  division.AddTo(&options);
  auto plan = compiler::Compile(std::move(graph), *planned.registry, options);
  if (!plan.ok()) return AsFailed(plan.status());
  planned.plan = *std::move(plan);
  return planned;
}

std::vector<std::string> PartsOf(std::string_view name) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = name.find('+');
    parts.emplace_back(name.substr(0, end));
    if (end == std::string_view::npos) return parts;
    name.remove_prefix(end + 1);
  }
}

}  // namespace tim::tool
