// `timcl devices`: the devices of this machine and what they can do.
#include <memory>
#include <string>
#include <vector>

#include "base/options.h"
#include "runtime/device_pool.h"
#include "tools/timcl/commands.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

// A device by the name that TIMCL_DEVICE knows it by.
struct Listed {
  std::string id;
  Result<ir::DeviceInfo> info;  // or why it cannot be used
};

Result<ir::DeviceInfo> InfoOf(const std::string& id) {
  TIM_ASSIGN_OR_RETURN(const auto devices,
                       runtime::SelectDevices(id, GetOptions().on_device));
  return devices.back()->info();
}

std::vector<Listed> AllDevices() {
  std::vector<Listed> all;
  const size_t opencl = runtime::ListDevices().size() - 1;
  for (size_t i = 0; i < opencl; ++i) {
    const std::string id = StrCat("opencl:", i);
    all.push_back({id, InfoOf(id)});
  }
  all.push_back({"host", InfoOf("host")});
  return all;
}

std::vector<std::string> AbilitiesOf(const ir::DeviceInfo& info) {
  std::vector<std::string> abilities;
  const auto add = [&](bool has, const char* name) {
    if (has) abilities.emplace_back(name);
  };
  add(info.has_fp16, "fp16");
  add(info.has_fp64, "fp64");
  add(info.has_subgroups, "subgroups");
  add(info.has_integer_dot, "integer dot product");
  add(info.has_vnni, "VNNI");
  add(info.has_images, "images");
  add(info.unified_memory, "unified memory");
  add(info.chains, "chains");
  return abilities;
}

Json JsonOf(const Listed& listed) {
  if (!listed.info.ok()) {
    return {{"id", listed.id}, {"unusable", listed.info.status().message()}};
  }
  const ir::DeviceInfo& info = *listed.info;
  return {{"id", listed.id},
          {"name", info.name},
          {"vendor", info.vendor},
          {"driver", info.driver},
          {"kernels",
           info.kind == "host" ? "none" : ir::ToString(info.device_class)},
          {"compute_units", info.compute_units},
          {"global_memory_bytes", info.global_memory_bytes},
          {"max_allocation_bytes", info.max_allocation_bytes},
          {"local_memory_bytes", info.local_memory_bytes},
          {"max_work_group_size", info.max_work_group_size},
          {"float_vector_width", info.float_vector_width},
          {"abilities", AbilitiesOf(info)}};
}

std::string TextOf(const Listed& listed) {
  if (!listed.info.ok()) {
    return StrCat(listed.id,
                  "\n  cannot be used: ", listed.info.status().message(), "\n");
  }
  const ir::DeviceInfo& info = *listed.info;
  std::string text = StrCat(listed.id, "\n  name       ", info.name, "\n");
  if (info.kind == "host") {
    return text + StrCat("  kernels    none: operators by their formulas, ",
                         "which is slow\n");
  }
  text += StrCat("  driver     ", info.vendor, ", ", info.driver, "\n",
                 "  kernels    those for ", ir::ToString(info.device_class),
                 "s\n", "  size       ", info.compute_units,
                 " compute units, work-groups of ", info.max_work_group_size,
                 ", float vectors of ", info.float_vector_width, "\n",
                 "  memory     ", Bytes(info.global_memory_bytes), ", ",
                 Bytes(info.max_allocation_bytes), " in one buffer, ",
                 Bytes(info.local_memory_bytes), " of a work-group\n");
  const std::string abilities = StrJoin(AbilitiesOf(info), ", ");
  return text +
         StrCat("  abilities  ", abilities.empty() ? "none" : abilities, "\n");
}

}  // namespace

Result<ExitCode> ShowDevices(const Arguments& arguments) {
  const std::vector<Listed> all = AllDevices();
  if (arguments.json) {
    Json json = Json::array();
    for (const Listed& listed : all) json.push_back(JsonOf(listed));
    PrintJson(json);
    return kDone;
  }
  for (const Listed& listed : all) Print(TextOf(listed));
  if (all.size() == 1) {
    Print(
        "No OpenCL device was found: no driver is installed, or it sees no "
        "device; see docs/troubleshooting.md.\n");
  }
  return kDone;
}

}  // namespace tim::tool
