#include "runtime/stored_plan.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <variant>

#include "base/fork/keep_one.h"
#include "base/hash.h"
#include "base/log.h"
#include "binary/plan/plan_file.h"
#include "ir/graph.h"
#include "ir/op_schema.h"
#include "kernels/kernel_sources.h"
#include "ops/builtin.h"
#include "runtime/cache/stored_programs.h"

namespace tim::runtime {
namespace {

// What was estimated or measured of a device may differ from day to day.
bool SameDevice(const ir::DeviceInfo& stored, const ir::DeviceInfo& here) {
  ir::DeviceInfo same = stored;
  same.gflops = here.gflops;
  same.gbytes_per_second = here.gbytes_per_second;
  same.launch_us = here.launch_us;
  same.link_gbytes_per_second = here.link_gbytes_per_second;
  same.link_latency_us = here.link_latency_us;
  same.global_memory_bytes = here.global_memory_bytes;
  same.max_allocation_bytes = here.max_allocation_bytes;
  same.spec = here.spec;
  same.max_streams = here.max_streams;
  return same == here;
}

bool IsBuiltin(const ir::Graph& graph);

// A graph as an attribute counts, too.
bool HasBuiltinGraphs(const ir::AttributeMap& attributes) {
  const auto& entries = attributes.entries();
  return std::all_of(entries.begin(), entries.end(), [](const auto& entry) {
    const auto* graph =
        std::get_if<std::shared_ptr<const ir::Graph>>(&entry.second);
    return graph == nullptr || *graph == nullptr || IsBuiltin(**graph);
  });
}

bool IsBuiltin(const ir::Node& node) {
  if (node.composite) return IsBuiltin(node.composite->body);
  return ops::BuiltinOperators().Find(node.schema->Key()) == node.schema &&
         HasBuiltinGraphs(node.attributes);
}

bool IsBuiltin(const ir::Graph& graph) {
  const std::vector<ir::NodeId> ids = graph.NodeIds();
  return std::all_of(ids.begin(), ids.end(),
                     [&](ir::NodeId id) { return IsBuiltin(graph.node(id)); });
}

// Its operators are the library's, in its body too.
bool IsBuiltin(const ir::HostCall& call) {
  if (call.body != nullptr) return IsBuiltin(*call.body);
  return ops::BuiltinOperators().Find(call.op) != nullptr;
}

Status CheckPorts(const char* what, const std::vector<ir::PlanTensor>& tensors,
                  const std::vector<binary::Port>& ports) {
  size_t next = 0;
  for (const binary::Port& port : ports) {
    if (port.unused) continue;
    if (next < tensors.size() && tensors[next].desc == port.desc) {
      ++next;
      continue;
    }
    return InvalidArgument("its ", what, "s are not those of the graph");
  }
  if (next == tensors.size()) return OkStatus();
  return InvalidArgument("it has ", tensors.size(), " ", what, "s");
}

}  // namespace

const std::string& KernelsIdentity() {
  static constinit std::atomic<const std::string*> identity = nullptr;
  return KeepOne(identity, [] {
    std::string hashes;
    for (const auto sources :
         {kernels::EmbeddedSources(), kernels::EmbeddedHeaders()}) {
      for (const kernels::KernelSource& source : sources) {
        hashes += StrCat(source.name, HashText(source.text).ToString());
      }
    }
    return HashText(hashes).ToString();
  });
}

bool CallsUsers(const ir::Plan& plan) {
  return std::any_of(
      plan.steps.begin(), plan.steps.end(), [](const ir::Step& step) {
        const auto* call = std::get_if<ir::HostCall>(&step.action);
        if (call != nullptr) return !IsBuiltin(*call);
        const auto* part = std::get_if<ir::GraphCall>(&step.action);
        if (part != nullptr) return !IsBuiltin(*part->part);
        const auto* control = std::get_if<ir::ControlCall>(&step.action);
        return control != nullptr &&
               std::any_of(
                   control->plans.begin(), control->plans.end(),
                   [](const auto& inner) { return CallsUsers(*inner); });
      });
}

std::optional<binary::Encoding> EncodeStored(const ir::Plan& plan) {
  if (CallsUsers(plan)) return std::nullopt;
  auto encoding = binary::EncodePlan(plan);
  if (encoding.ok()) return *std::move(encoding);
  TIM_LOG(kInfo, "graph ", plan.graph,
          ": the binary graph has no plan: ", encoding.status().message());
  return std::nullopt;
}

binary::Programs ProgramsOf(const Executable& executable) {
  binary::Programs programs;
  for (const auto& [key, binary] : executable.programs()) {
    if (auto bytes = binary()) programs.emplace(key, *std::move(bytes));
  }
  return programs;
}

Result<ir::Plan> StoredPlan(
    const binary::Blob& blob,
    std::span<const std::shared_ptr<device::Device>> devices,
    const ir::PlanOptions& options) {
  if (blob.plan.empty()) return NotFound("it has none");
  if (blob.kernels != KernelsIdentity()) {
    return InvalidArgument("it was made by version ", blob.library,
                           " of the library, which has other kernels");
  }
  TIM_ASSIGN_OR_RETURN(
      ir::Plan plan,
      binary::ReadPlan(blob.plan, ops::BuiltinOperators(), blob.keeper));
  if (plan.options != options) {
    return InvalidArgument("it was made with other options");
  }
  if (plan.devices.size() != devices.size()) {
    return InvalidArgument("it is for ", plan.devices.size(), " devices");
  }
  for (size_t i = 0; i < devices.size(); ++i) {
    const ir::DeviceInfo& here = devices[i]->info();
    if (SameDevice(plan.devices[i], here)) continue;
    return InvalidArgument("it is for ", plan.devices[i].name, " (",
                           plan.devices[i].driver, "), not for ", here.name,
                           " (", here.driver, ")");
  }
  TIM_RETURN_IF_ERROR(CheckPorts("input", plan.inputs, blob.inputs));
  TIM_RETURN_IF_ERROR(CheckPorts("output", plan.outputs, blob.outputs));
  return plan;
}

std::optional<ir::Plan> UsablePlan(
    const binary::Blob& blob,
    std::span<const std::shared_ptr<device::Device>> devices,
    const ir::PlanOptions& options) {
  if (blob.plan.empty()) return std::nullopt;
  Result<ir::Plan> plan = StoredPlan(blob, devices, options);
  if (plan.ok()) return *std::move(plan);
  TIM_LOG(
      kInfo, "binary graph ", blob.graph_name,
      " is compiled anew: its plan is not for here: ", plan.status().message());
  return std::nullopt;
}

std::shared_ptr<device::BinaryStore> WithPrograms(
    const binary::Blob& blob, std::shared_ptr<device::BinaryStore> programs) {
  if (blob.programs.empty() || blob.kernels != KernelsIdentity()) {
    return programs;
  }
  auto stored = binary::ReadPrograms(blob.programs);
  if (!stored.ok()) {
    TIM_LOG(kInfo, "binary graph ", blob.graph_name, ": ",
            stored.status().message());
    return programs;
  }
  return std::make_shared<StoredPrograms>(*std::move(stored), blob.keeper,
                                          std::move(programs));
}

}  // namespace tim::runtime
