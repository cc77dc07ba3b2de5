// Opens the devices of a list of names.
#include "runtime/device_set.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/fork/per_process.h"
#include "base/log.h"
#include "device/device_sources.h"
#include "device/opencl/opencl_group.h"
#include "runtime/calibration.h"
#include "runtime/device_facts.h"
#include "runtime/device_names.h"
#include "runtime/device_pool.h"
#include "runtime/links.h"

namespace tim::runtime {
namespace {

using device::Device;
using device::OpenClPart;

// One device of a list.
struct Entry {
  std::string spec;
  std::string kind;
  int number = 0;        // of kinds of plug-ins
  OpenClPart part = {};  // of OpenCL
};

// Devices that work on the same graphs share contexts: each list has its own.
// Weak, as those of device_pool.cc.
struct SharedGroups {
  std::mutex mutex;
  std::map<std::string, std::vector<std::weak_ptr<Device>>> groups;
};

// Held while devices are made, which takes long.
constinit GlobalPerProcess<SharedGroups> g_groups;

Status AddOpenCl(const DeviceName& name, std::vector<Entry>* entries) {
  TIM_RETURN_IF_ERROR(device::CheckOpenClProcess());
  const int number = name.number.value_or(0);
  const device::OpenClDivision division{.parts = name.parts,
                                        .by_memory = name.by_memory};
  std::string spec = StrCat("opencl:", number);
  if (name.by_memory) spec += "/numa";
  if (name.parts != 0) spec += StrCat("/", name.parts);
  TIM_ASSIGN_OR_RETURN(const int parts,
                       device::CountOpenClParts(number, division));
  if (name.part && *name.part >= parts) {
    return InvalidArgument(spec, " has ", parts,
                           parts == 1 ? " part" : " parts",
                           ", numbered from 0");
  }
  for (int part = 0; part < parts; ++part) {
    if (name.part && *name.part != part) continue;
    entries->push_back(
        {.spec = division.whole() ? spec : StrCat(spec, ".", part),
         .kind = "opencl",
         .part = {.device = number, .division = division, .part = part}});
  }
  return OkStatus();
}

Status AddOfSource(const DeviceName& name, std::vector<Entry>* entries) {
  const auto source = device::FindDeviceSource(name.kind);
  if (!source) {
    std::string kinds = "host, opencl";
    for (const auto& one : device::DeviceSources()) kinds += ", " + one.kind;
    return NotFound("there are no devices of kind '", name.kind, "'; expected ",
                    kinds);
  }
  const size_t count = source->list().size();
  const int number = name.number.value_or(0);
  if (std::cmp_greater_equal(number, count)) {
    return NotFound("device ", name.kind, ":", number, ": there are ", count,
                    " of this kind, numbered from 0");
  }
  entries->push_back({.spec = StrCat(name.kind, ":", number),
                      .kind = name.kind,
                      .number = number});
  return OkStatus();
}

Status AddName(const DeviceName& name, std::vector<Entry>* entries);

// The names of `specs`, which are of the list of this process.
Status AddAll(const std::vector<std::string>& specs,
              std::vector<Entry>* entries) {
  for (const std::string& spec : specs) {
    TIM_ASSIGN_OR_RETURN(const auto names, ParseDeviceNames(spec));
    TIM_RETURN_IF_ERROR(AddName(names[0], entries));
  }
  return OkStatus();
}

Status AddName(const DeviceName& name, std::vector<Entry>* entries) {
  if (name.kind == "host") {
    entries->push_back({.spec = "host", .kind = "host"});
    return OkStatus();
  }
  if (name.kind == "auto") return AddAll({BestDevice()}, entries);
  if (name.kind == "all") return AddAll(UsableDevices(), entries);
  return name.kind == "opencl" ? AddOpenCl(name, entries)
                               : AddOfSource(name, entries);
}

Status CheckNamedOnce(const std::vector<Entry>& entries) {
  for (size_t i = 0; i < entries.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (entries[i].spec != entries[j].spec) continue;
      return InvalidArgument("device ", entries[i].spec, " is named twice");
    }
  }
  return OkStatus();
}

Result<std::vector<std::shared_ptr<Device>>> OpenGroup(
    const std::vector<Entry>& entries, const DeviceOptions& options) {
  std::vector<OpenClPart> parts;
  std::string key = options.guard ? "guard" : "";
  for (const Entry& entry : entries) {
    if (entry.kind != "opencl") continue;
    parts.push_back(entry.part);
    key += "," + entry.spec;
  }
  std::vector<std::shared_ptr<Device>> devices;
  if (parts.empty()) return devices;
  if (parts.size() == 1 && parts[0].division.whole()) {
    TIM_ASSIGN_OR_RETURN(devices.emplace_back(),
                         ShareOpenCl(parts[0].device, options));
    return devices;
  }
  SharedGroups& shared = g_groups.Get();
  const std::lock_guard lock(shared.mutex);
  auto& group = shared.groups[key];
  for (const auto& weak : group) devices.push_back(weak.lock());
  if (!devices.empty() &&
      std::count(devices.begin(), devices.end(), nullptr) == 0) {
    return devices;
  }
  TIM_ASSIGN_OR_RETURN(devices, device::CreateOpenClGroup(parts, options));
  group.assign(devices.begin(), devices.end());
  return devices;
}

}  // namespace

Result<DeviceSet> OpenDevices(const std::string& list,
                              const DeviceOptions& options) {
  TIM_ASSIGN_OR_RETURN(const auto names, ParseDeviceNames(list));
  std::vector<Entry> entries;
  for (const DeviceName& name : names) {
    TIM_RETURN_IF_ERROR(AddName(name, &entries));
  }
  TIM_RETURN_IF_ERROR(CheckNamedOnce(entries));
  DeviceSet set;
  TIM_ASSIGN_OR_RETURN(set.devices.emplace_back(), ShareHost(options));
  set.specs.push_back("host");
  TIM_ASSIGN_OR_RETURN(const auto group, OpenGroup(entries, options));
  size_t next = 0;
  for (const Entry& entry : entries) {
    if (entry.kind == "host") continue;
    if (entry.kind == "opencl") {
      set.devices.push_back(group[next++]);
    } else {
      TIM_ASSIGN_OR_RETURN(
          set.devices.emplace_back(),
          device::FindDeviceSource(entry.kind)->open(entry.number));
    }
    set.specs.push_back(entry.spec);
  }
  return set;
}

void ForgetGroupsOf(const Device& device) {
  SharedGroups& shared = g_groups.Get();
  const std::lock_guard lock(shared.mutex);
  std::erase_if(shared.groups, [&](const auto& entry) {
    return std::any_of(
        entry.second.begin(), entry.second.end(),
        [&](const auto& weak) { return weak.lock().get() == &device; });
  });
}

namespace {

// Devices as they were measured; empty where nothing was.
std::vector<ir::DeviceInfo> FiguresOf(
    const device::Devices& devices,
    const std::shared_ptr<device::BinaryStore>& store) {
  std::vector<ir::DeviceInfo> figures;
  bool measured = false;
  for (const auto& device : devices) {
    figures.push_back(device->info());
    if (figures.back().kind != "opencl") continue;
    const auto found = Calibrate(device, store);
    if (!found.ok()) {
      TIM_LOG(kWarning, found.status().message());
      continue;
    }
    figures.back().gflops = found->gflops;
    figures.back().gbytes_per_second = found->gbytes_per_second;
    figures.back().launch_us = found->launch_us;
    measured = true;
  }
  if (!measured) figures.clear();
  return figures;
}

}  // namespace

Division DivisionOf(const DeviceSet& set, const compiler::Policy& policy,
                    const std::shared_ptr<device::BinaryStore>& store) {
  Division division{.specs = set.specs, .policy = policy};
  // Guesses are far off for devices behind a network.
  const bool several =
      set.devices.size() > 2 ||
      std::any_of(set.devices.begin(), set.devices.end(),
                  [](const auto& device) { return device->info().remote; });
  using compiler::Calibrating;
  using compiler::LinkFigures;
  if (policy.calibrate == Calibrating::kOn ||
      (several && policy.calibrate == Calibrating::kByDevices)) {
    division.figures = FiguresOf(set.devices, store);
  }
  const bool measure = policy.links == LinkFigures::kMeasure ||
                       (several && policy.links == LinkFigures::kByDevices);
  if (measure || several) {
    division.links = LinksOf(set.devices, measure ? store.get() : nullptr);
  }
  return division;
}

Result<int> Division::IndexOf(std::string_view spec) const {
  // A kind alone means its first device, as in lists.
  const auto found =
      std::find_if(specs.begin(), specs.end(), [&](const std::string& one) {
        return one == spec || one == StrCat(spec, ":0");
      });
  if (found != specs.end()) return static_cast<int>(found - specs.begin());
  return InvalidArgument(
      "device '", spec, "' is none of the context's, which ",
      specs.empty() ? "have no names" : StrCat("are ", StrJoin(specs, ", ")));
}

void Division::AddTo(compiler::CompileOptions* options) const {
  options->policy = policy;
  if (!policy.host_fallback) options->strict = true;
  // An executor's devices are not the context's.
  if (specs.size() != options->devices.size()) return;
  if (figures.size() == specs.size()) options->devices = figures;
  // The kind of the only device beside the host is enough.
  for (size_t i = 0; specs.size() > 2 && i < specs.size(); ++i) {
    options->devices[i].spec = specs[i];
  }
  if (links.devices() == specs.size()) options->links = links;
}

}  // namespace tim::runtime
