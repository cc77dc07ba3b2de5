// `timcl devices`: the devices of this machine, what they can do and how fast.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/options.h"
#include "runtime/calibration.h"
#include "runtime/device_pool.h"
#include "runtime/named_plugins.h"
#include "tools/timcl/commands.h"
#include "tools/timcl/terminal.h"
#include "vx/core/user_programs.h"

namespace tim::tool {
namespace {

// The kind that is measured; plug-ins say how fast theirs are.
constexpr char kOpenCl[] = "opencl";

// A device by the name that TIMCL_DEVICE knows it by.
struct Listed {
  std::string id;
  Result<ir::DeviceInfo> info;  // or why it cannot be used
  std::optional<runtime::Calibration> speed = {};
  Status measured = {};  // why it could not be, where that was asked
};

Listed Look(const std::string& id, bool measure) {
  const auto devices = runtime::SelectDevices(id, GetOptions().on_device);
  if (!devices.ok()) return {.id = id, .info = devices.status()};
  const auto& device = devices->back();
  Listed listed = {.id = id, .info = device->info()};
  if (device->info().kind != kOpenCl) return listed;
  const auto store = vx::UserPrograms();
  if (!measure) {
    listed.speed = runtime::KnownCalibration(device->info(), *store);
    return listed;
  }
  ShowProgress(StrCat("measuring ", id));
  const auto measured = runtime::CalibrateAnew(device, store);
  if (measured.ok()) {
    listed.speed = *measured;
  } else {
    listed.measured = measured.status();
  }
  return listed;
}

std::vector<Listed> AllDevices(bool measure) {
  runtime::LoadNamedPlugins(GetOptions());
  std::vector<Listed> all;
  for (const runtime::ListedDevice& listed : runtime::ListDevices()) {
    all.push_back(Look(listed.spec, measure));
  }
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
  add(info.has_amx, "AMX");
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
  Json speed;
  if (listed.speed) {
    speed = {{"gflops", listed.speed->gflops},
             {"gbytes_per_second", listed.speed->gbytes_per_second},
             {"launch_us", listed.speed->launch_us}};
  }
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
          {"abilities", AbilitiesOf(info)},
          {"measured", speed}};
}

std::string SpeedOf(const Listed& listed) {
  if (listed.info->kind != kOpenCl) {
    return StrCat("as its plug-in says: ", Fixed(listed.info->gflops, 1),
                  " GFLOP/s of float32, ",
                  Fixed(listed.info->gbytes_per_second, 1), " GB/s");
  }
  if (!listed.speed) {
    return listed.measured.ok()
               ? "not measured yet; timcl devices --measure does"
               : "cannot be measured: " + listed.measured.message();
  }
  return StrCat(Fixed(listed.speed->gflops, 1), " GFLOP/s of float32, ",
                Fixed(listed.speed->gbytes_per_second, 1),
                " GB/s from memory; a launch takes ",
                Fixed(listed.speed->launch_us, 1), " us");
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
                 "  kernels    those ",
                 info.kind == kOpenCl
                     ? StrCat("for ", ir::ToString(info.device_class), "s")
                     : StrCat("of the plug-in ", info.kind),
                 "\n", "  size       ", info.compute_units,
                 " compute units, work-groups of ", info.max_work_group_size,
                 ", float vectors of ", info.float_vector_width, "\n",
                 "  memory     ", Bytes(info.global_memory_bytes), ", ",
                 Bytes(info.max_allocation_bytes), " in one buffer, ",
                 Bytes(info.local_memory_bytes), " of a work-group\n");
  const std::string abilities = StrJoin(AbilitiesOf(info), ", ");
  return text + StrCat("  abilities  ", abilities.empty() ? "none" : abilities,
                       "\n", "  speed      ", SpeedOf(listed), "\n");
}

}  // namespace

Result<ExitCode> ShowDevices(const Arguments& arguments) {
  const std::vector<Listed> all = AllDevices(arguments.measure);
  if (arguments.json) {
    Json json = Json::array();
    for (const Listed& listed : all) json.push_back(JsonOf(listed));
    PrintJson(json);
  } else {
    for (const Listed& listed : all) Print(TextOf(listed));
  }
  for (const Listed& listed : all) TIM_RETURN_IF_ERROR(listed.measured);
  if (all.size() == 1 && !arguments.json) {
    Print(
        "No OpenCL device was found: no driver is installed, or it sees no "
        "device; see docs/troubleshooting.md.\n");
  }
  return kDone;
}

}  // namespace tim::tool
