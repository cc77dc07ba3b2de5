// `timcl plugin-check`: whether a plug-in keeps its contract.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "device/device_sources.h"
#include "device/host/host_device.h"
#include "ops/registered.h"
#include "plugin/plugins.h"
#include "tools/timcl/commands.h"
#include "tools/timcl/forked_process.h"
#include "tools/timcl/plugin_checks.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

constexpr PluginCheck kChecks[] = {
    {"C1", "one symbol", CheckSymbols},
    {"C2", "tables and versions", CheckTables},
    {"C3", "life", CheckLife, " C2 "},
    {"C4", "allocations", CheckAllocations, " C2 "},
    {"C5", "copies", CheckCopies, " C2 C4 "},
    {"C6", "order of work", CheckOrder, " C2 C4 C5 "},
    {"C7", "threads", CheckThreads, " C2 C4 C5 "},
    {"C8", "messages", CheckMessages, " C2 "},
    {"C9", "costs and layouts", CheckCosts, " C2 C8 "},
    {"C10", "kernels", CheckKernels, " C2 C4 C5 C8 C9 "},
    {"C11", "kernels for OpenCL", CheckOpenClKernels, " C2 C8 C9 "},
    {"C12", "parts of graphs", CheckParts, " C2 C4 C5 C8 C9 C10 "},
    {"C13", "edits of graphs", CheckEdits, " C2 "},
    {"C14", "operators", CheckOperatorsOf, " C2 "},
    {"C15", "equal bits", CheckRepeats, " C2 C4 C5 C8 C9 C10 "},
    {"C16", "unloading", CheckUnloading, " C2 "},
};

// Findings of the forked process, a line each: a letter and the text.
std::string LineOf(const PluginFinding& finding) {
  std::string line = finding.kind == PluginFinding::Kind::kFail   ? "F"
                     : finding.kind == PluginFinding::Kind::kSkip ? "S"
                                                                  : "P";
  for (const char c : finding.text) line += c == '\n' ? ' ' : c;
  return line;
}

struct Checked {
  const PluginCheck* check = nullptr;
  std::vector<std::string> failures = {};
  std::vector<std::string> skips = {};

  const char* outcome() const {
    if (!failures.empty()) return "FAIL";
    return skips.empty() ? "PASS" : "SKIP";
  }
};

Result<Checked> RunCheck(const PluginCheck& check, const std::string& path,
                         const plugin::PluginOptionList& options,
                         uint64_t seed) {
  Checked checked;
  checked.check = &check;
  bool complete = false;
  TIM_ASSIGN_OR_RETURN(
      const ProcessEnd end,
      RunForked(
          [&](const SendLine& send) {
            CheckedPlugin plugin(path, options, seed);
            check.run(plugin);
            for (const PluginFinding& finding : plugin.findings) {
              send(LineOf(finding));
            }
            send("E");
          },
          [&](const std::string& line) {
            if (line == "E") complete = true;
            if (line[0] == 'F') checked.failures.push_back(line.substr(1));
            if (line[0] == 'S') checked.skips.push_back(line.substr(1));
            return true;
          }));
  if (end.signal != 0 || end.exit_status != 0 || !complete) {
    checked.failures.push_back(StrCat("the process ended by ", end.ToString()));
  }
  return checked;
}

Result<plugin::PluginOptionList> OptionsOf(
    const std::vector<std::string>& given) {
  plugin::PluginOptionList options;
  for (const std::string& one : given) {
    const size_t equals = one.find('=');
    if (equals == std::string::npos || equals == 0) {
      return InvalidArgument("--option ", one, " is no KEY=VALUE");
    }
    options.emplace_back(one.substr(0, equals), one.substr(equals + 1));
  }
  return options;
}

bool IsAsked(const PluginCheck& check, const std::vector<std::string>& only) {
  if (only.empty()) return true;
  for (const std::string& id : only) {
    if (id == check.id) return true;
  }
  return false;
}

Status CheckOnly(const std::vector<std::string>& only) {
  for (const std::string& id : only) {
    bool known = false;
    for (const PluginCheck& check : kChecks) known |= id == check.id;
    if (!known)
      return InvalidArgument("there is no check ", id, "; see C1 to C16");
  }
  return OkStatus();
}

std::string TextOf(const Checked& checked, const std::string& repeat) {
  std::string text = StrCat(checked.outcome(), " ", checked.check->id, " ",
                            checked.check->title, "\n");
  for (const std::string& one : checked.skips) text += "  " + one + "\n";
  for (const std::string& one : checked.failures) text += "  " + one + "\n";
  if (!checked.failures.empty()) text += "  repeat: " + repeat + "\n";
  return text;
}

// Loads it in another process, which may end.
Result<ExitCode> Probe(const std::string& path,
                       const plugin::PluginOptionList& options) {
  const PluginCheck load = {
      "", "", [](CheckedPlugin& plugin) { static_cast<void>(plugin.Load()); }};
  TIM_ASSIGN_OR_RETURN(const Checked checked, RunCheck(load, path, options, 1));
  if (checked.failures.empty()) return kDone;
  Print(StrCat(path, ": ", checked.failures[0], "\n"));
  return kDiffers;
}

}  // namespace

bool CheckedPlugin::Load() {
  loaded = {};
  auto result = plugin::LoadFile(path, options, {},
                                 [](const std::string&) { return false; });
  if (!Expect(result.status(), "it is not loaded")) return false;
  loaded = *std::move(result);
  return true;
}

const std::vector<std::shared_ptr<plugin::PluginDevice>>&
CheckedPlugin::Devices() {
  if (!devices_.empty() || loaded.plugin == nullptr) return devices_;
  for (uint32_t i = 0; i < loaded.devices.size(); ++i) {
    if (loaded.devices[i].props.score == 0) {
      Skip("device ", i, " is not usable: ", loaded.devices[i].reason);
      continue;
    }
    auto device = plugin::PluginDevice::Open(loaded.plugin, i, 0);
    if (Expect(device.status(), StrCat("open(", i, ")"))) {
      devices_.push_back(*std::move(device));
    }
  }
  if (devices_.empty()) Skip("it has no usable devices");
  return devices_;
}

std::shared_ptr<const ir::OpRegistry> CheckedPlugin::LoadAll() {
  const Status status = plugin::LoadPlugin(path, options, {});
  if (!Expect(status, "it is not loaded")) return nullptr;
  loaded = plugin::LoadedOnes().back();
  return {std::shared_ptr<const void>(), &ops::KnownOperators()};
}

std::vector<device::Devices> CheckedPlugin::DevicePairs() {
  std::vector<device::Devices> pairs;
  const std::string kind = loaded.plugin->kind();
  const auto source = device::FindDeviceSource(kind);
  for (size_t i = 0; source && i < loaded.devices.size(); ++i) {
    if (loaded.devices[i].props.score == 0) continue;
    auto device = source->open(static_cast<int>(i));
    if (!Expect(device.status(), StrCat(kind, ":", i))) continue;
    pairs.push_back({device::CreateHostDevice(), *std::move(device)});
  }
  if (pairs.empty()) Skip("it has no usable devices");
  return pairs;
}

Result<ExitCode> CheckPlugin(const Arguments& arguments) {
  const PluginArguments& asked = arguments.plugin;
  TIM_RETURN_IF_ERROR(CheckOnly(asked.only));
  TIM_ASSIGN_OR_RETURN(const auto options, OptionsOf(asked.options));
  if (asked.probe) return Probe(arguments.file, options);
  bool passed = true;
  Json json = Json::array();
  std::vector<std::string> failed;
  for (const PluginCheck& check : kChecks) {
    if (!IsAsked(check, asked.only)) continue;
    const auto missing =
        std::find_if(failed.begin(), failed.end(), [&](const std::string& id) {
          return check.needs.find(StrCat(" ", id, " ")) != std::string::npos;
        });
    Checked checked{.check = &check};
    if (missing != failed.end()) {
      checked.skips.push_back(StrCat("it needs ", *missing, ", which failed"));
    } else {
      TIM_ASSIGN_OR_RETURN(
          checked, RunCheck(check, arguments.file, options, asked.seed));
    }
    if (!checked.failures.empty()) failed.push_back(check.id);
    passed = passed && checked.failures.empty();
    std::string repeat =
        StrCat("timcl plugin-check --only ", check.id, " --seed ", asked.seed);
    for (const std::string& one : asked.options) repeat += " --option " + one;
    repeat += " " + arguments.file;
    json.push_back({{"id", check.id},
                    {"title", check.title},
                    {"outcome", checked.outcome()},
                    {"failures", checked.failures},
                    {"skips", checked.skips},
                    {"repeat", repeat}});
    if (!arguments.json) {
      Print(TextOf(checked, repeat));
      std::fflush(stdout);
    }
  }
  if (arguments.json) PrintJson(json);
  return passed ? kDone : kDiffers;
}

}  // namespace tim::tool
