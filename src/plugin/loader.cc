// Checks plug-ins before anything of theirs is relied on.
#include "plugin/loader.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "plugin/host_table.h"
#include "plugin/parts.h"
#include "plugin/tables.h"

namespace tim::plugin {
namespace {

constexpr char kEntry[] = "TimPluginGet";
constexpr uint32_t kMostDevices = 1024;
constexpr uint32_t kMostEntries = 100'000;

// Whoever may write the file decides what this process does.
Status CheckFile(const std::string& path) {
  if (path.empty()) {
    return InvalidArgument("no file is named; expected the path of a plug-in");
  }
  struct stat file = {};
  if (stat(path.c_str(), &file) != 0) {
    return NotFound(path, ": ", std::strerror(errno));
  }
  if (S_ISDIR(file.st_mode)) {
    return InvalidArgument(path,
                           " is a folder; expected the path of a plug-in "
                           "(TIMCL_PLUGINS takes folders, too)");
  }
  if (!S_ISREG(file.st_mode)) return InvalidArgument(path, " is no file");
  const bool others = (file.st_mode & S_IWOTH) != 0;
  const bool strangers = file.st_uid != geteuid() && file.st_uid != 0;
  if (!others && !strangers) return OkStatus();
  return FailedPrecondition(
      path,
      others ? " may be written by everybody" : " belongs to another user",
      ", who could run anything in this process; it is not loaded");
}

// "[a-z][a-z0-9_]{1,15}", and none of the library's own words.
Status CheckKind(const char* kind) {
  if (kind == nullptr) return InvalidArgument("TimPlugin: kind is missing");
  const std::string_view text(kind);
  const bool fits =
      text.size() >= 2 && text.size() <= 16 && text[0] >= 'a' &&
      text[0] <= 'z' && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
      });
  static constexpr std::array<std::string_view, 7> kOwn = {
      "host", "opencl", "fake", "tim", "user", "auto", "all"};
  if (fits && std::find(kOwn.begin(), kOwn.end(), text) == kOwn.end()) {
    return OkStatus();
  }
  return InvalidArgument("kind '", text.substr(0, 32),
                         "' is not legal: expected 2 to 16 characters a-z, 0-9 "
                         "and _, the first a letter, and not host, opencl, "
                         "fake, tim, user, auto or all");
}

Status CheckVersion(const TimPlugin& table) {
  if (table.abi_major == TIM_ABI_MAJOR) return OkStatus();
  return InvalidArgument("it has version ", table.abi_major, ".",
                         table.abi_minor,
                         " of the plug-in interface, this library ",
                         TIM_ABI_MAJOR, ".", TIM_ABI_MINOR);
}

template <typename Table>
Status Read(const TableType& type, const Table* given, Table* table,
            std::vector<std::string>* not_offered) {
  return ReadTable(type, given, table, not_offered);
}

Status CheckOwnTable(const TimPlugin& plugin) {
  const bool has_devices = plugin.device_count != nullptr;
  if (!has_devices) return OkStatus();
  const std::pair<const char*, bool> needed[] = {
      {"describe", plugin.describe != nullptr},
      {"open", plugin.open != nullptr},
      {"close", plugin.close != nullptr},
      {"device", plugin.device != nullptr},
  };
  for (const auto& [name, offered] : needed) {
    if (offered) continue;
    return InvalidArgument("TimPlugin: device_count is offered without ", name,
                           ", which it needs");
  }
  return OkStatus();
}

Status ReadTables(PluginTables* tables, std::vector<std::string>* not_offered) {
  const TimPlugin& plugin = tables->plugin;
  if (plugin.device != nullptr) {
    TIM_RETURN_IF_ERROR(
        Read(DeviceTable(), plugin.device, &tables->device, not_offered));
    TIM_RETURN_IF_ERROR(CheckDeviceFunctions(tables->device));
    tables->has_device = true;
  }
  if (plugin.kernels != nullptr) {
    // Kernels for OpenCL devices alone run no steps.
    TIM_RETURN_IF_ERROR(Read(KernelTable(/*runs_steps=*/false), plugin.kernels,
                             &tables->kernels, not_offered));
  }
  if (plugin.graphs != nullptr) {
    TIM_RETURN_IF_ERROR(
        Read(GraphTable(), plugin.graphs, &tables->graphs, not_offered));
    TIM_RETURN_IF_ERROR(CheckGraphFunctions(tables->graphs));
    tables->has_graphs = true;
  }
  if (plugin.ops != nullptr) {
    TIM_RETURN_IF_ERROR(
        Read(OperatorTable(), plugin.ops, &tables->ops, not_offered));
  }
  return OkStatus();
}

// The entries of a list, each checked as a table.
template <typename Entry>
Status ReadList(const char* what, const TableType& type,
                uint32_t (*count_of)(void), const Entry* (*entry_of)(uint32_t),
                std::vector<Entry>* list) {
  uint32_t count = 0;
  try {
    count = count_of();
    if (count > kMostEntries) {
      return InvalidArgument(count, " ", what, "s; at most ", kMostEntries);
    }
    for (uint32_t i = 0; i < count; ++i) {
      const Entry* const given = entry_of(i);
      if (given == nullptr) {
        return InvalidArgument(what, " ", i, " of ", count, " is NULL");
      }
      std::vector<std::string> unused;
      const Status status =
          ReadTable(type, given, &list->emplace_back(), &unused);
      if (!status.ok()) return status.WithContext(StrCat(what, " ", i));
    }
  } catch (...) {
    return InvalidArgument("an exception left the list of ", what, "s");
  }
  return OkStatus();
}

Status CheckKernel(const TimKernel& kernel, const std::string& kind) {
  const std::string_view device(kernel.device_kind);
  if (device == kind || device == "opencl") return OkStatus();
  return InvalidArgument("kernel ", kernel.name, " is for devices of kind '",
                         device, "'; expected '", kind, "' or 'opencl'");
}

Status ReadLists(PluginTables* tables) {
  const std::string kind = tables->plugin.kind;
  bool runs_steps = false;
  if (tables->kernels.count != nullptr) {
    TIM_RETURN_IF_ERROR(ReadList("kernel", KernelEntry(), tables->kernels.count,
                                 tables->kernels.kernel, &tables->kernel_list));
    for (const TimKernel& kernel : tables->kernel_list) {
      TIM_RETURN_IF_ERROR(CheckKernel(kernel, kind));
      runs_steps |= kernel.device_kind == kind;
    }
  }
  if (runs_steps) {
    std::vector<std::string> unused;
    TimKernelFns again{};
    TIM_RETURN_IF_ERROR(Read(KernelTable(/*runs_steps=*/true), &tables->kernels,
                             &again, &unused));
  }
  if (tables->ops.count == nullptr) return OkStatus();
  TIM_RETURN_IF_ERROR(ReadList("operator", OperatorEntry(), tables->ops.count,
                               tables->ops.op, &tables->op_list));
  for (const TimOp& op : tables->op_list) {
    if (op.domain == kind) continue;
    return InvalidArgument("operator ", op.name, " has the domain '", op.domain,
                           "'; expected '", kind, "'");
  }
  return OkStatus();
}

// Rules of options that hold for every plug-in; a plug-in has its own.
Status CheckOptions(const PluginOptionList& options, bool has_graphs) {
  for (size_t i = 0; i < options.size(); ++i) {
    const std::string& key = options[i].first;
    if (key.empty()) {
      return InvalidArgument("the option '=", options[i].second,
                             "' has no key; expected key and value");
    }
    for (size_t k = 0; k < i; ++k) {
      if (options[k].first != key) continue;
      return InvalidArgument("option ", key, " is given twice, as '",
                             options[k].second, "' and as '", options[i].second,
                             "'");
    }
  }
  return has_graphs ? MinNodesOf(options).status() : OkStatus();
}

Status Initialize(const LoadedPlugin& plugin, const PluginOptionList& options) {
  std::vector<TimOption> list;
  for (const auto& [key, value] : options) {
    list.push_back({key.c_str(), value.c_str()});
  }
  return plugin.Call("TimPlugin::initialize", plugin.tables().plugin.initialize,
                     &Host(), static_cast<const TimOption*>(list.data()),
                     static_cast<uint32_t>(list.size()));
}

Result<std::vector<Described>> DescribeAll(const LoadedPlugin& plugin) {
  std::vector<Described> devices;
  if (plugin.tables().plugin.device_count == nullptr) return devices;
  const uint32_t count = plugin.CallFor<uint32_t>(
      0, "TimPlugin::device_count", plugin.tables().plugin.device_count);
  if (count > kMostDevices) {
    return plugin.Broke(StrCat("TimPlugin::device_count() gave ", count));
  }
  for (uint32_t i = 0; i < count; ++i) {
    TIM_ASSIGN_OR_RETURN(devices.emplace_back(), Describe(plugin, i));
  }
  TIM_RETURN_IF_ERROR(plugin.CheckUsable());
  return devices;
}

}  // namespace

Result<Loaded> LoadTable(const std::string& path, void* library,
                         const TimPlugin* table,
                         const PluginOptionList& options,
                         const PluginOptions& watch,
                         const std::function<bool(const std::string&)>& taken) {
  if (table == nullptr) {
    return InvalidArgument("it cannot serve version ", TIM_ABI_MAJOR, ".",
                           TIM_ABI_MINOR,
                           " of the plug-in interface, which this library has");
  }
  Loaded loaded;
  PluginTables tables;
  // The version before all else: another major one may have other members.
  if (table->struct_size >= TIM_SIZE_THROUGH(TimPlugin, abi_minor)) {
    TIM_RETURN_IF_ERROR(CheckVersion(*table));
  }
  TIM_RETURN_IF_ERROR(
      Read(PluginTable(), table, &tables.plugin, &loaded.not_offered));
  TIM_RETURN_IF_ERROR(CheckKind(tables.plugin.kind));
  if (taken(tables.plugin.kind)) {
    return InvalidArgument("kind '", tables.plugin.kind,
                           "' is taken by another plug-in");
  }
  TIM_RETURN_IF_ERROR(CheckOwnTable(tables.plugin));
  TIM_RETURN_IF_ERROR(ReadTables(&tables, &loaded.not_offered));
  TIM_RETURN_IF_ERROR(ReadLists(&tables));
  TIM_RETURN_IF_ERROR(CheckOptions(options, tables.has_graphs));
  loaded.plugin =
      std::make_shared<LoadedPlugin>(path, library, std::move(tables));
  loaded.plugin->timeout = watch.timeout;
  loaded.plugin->check = watch.check;
  loaded.plugin->Start();
  Status status = Initialize(*loaded.plugin, options);
  if (!status.ok()) {
    loaded.plugin->SetFailed();
    return status;
  }
  auto devices = DescribeAll(*loaded.plugin);
  if (!devices.ok()) {
    loaded.plugin->ShutDown();
    return devices.status();
  }
  loaded.devices = *std::move(devices);
  return loaded;
}

Result<Loaded> LoadFile(const std::string& path,
                        const PluginOptionList& options,
                        const PluginOptions& watch,
                        const std::function<bool(const std::string&)>& taken) {
  TIM_RETURN_IF_ERROR(CheckFile(path));
  // A name without a slash is looked for elsewhere.
  const std::string file =
      path.find('/') == std::string::npos ? "./" + path : path;
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    return NotFound(reason != nullptr ? reason : path.c_str());
  }
  using Entry = const TimPlugin* (*)(uint16_t, uint16_t);
  void* const symbol = dlsym(library, kEntry);
  if (symbol == nullptr) {
    dlclose(library);
    return InvalidArgument(path, " is no plug-in: it has no ", kEntry,
                           "() of version ", TIM_ABI_MAJOR, ".", TIM_ABI_MINOR,
                           " of the plug-in interface");
  }
  const TimPlugin* table = nullptr;
  try {
    table = reinterpret_cast<Entry>(symbol)(TIM_ABI_MAJOR, TIM_ABI_MINOR);
  } catch (...) {
    return InvalidArgument(path, ": an exception left ", kEntry, "()");
  }
  auto loaded = LoadTable(path, library, table, options, watch, taken);
  if (loaded.ok()) return loaded;
  // The library stays mapped: what it started may still run.
  return loaded.status().WithContext(path);
}

}  // namespace tim::plugin
