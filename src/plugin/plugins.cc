// Loads and unloads plug-ins, and opens their devices.
#include "plugin/plugins.h"

#include <sys/auxv.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/fork/per_process.h"
#include "base/log.h"
#include "device/device_sources.h"
#include "ops/builtin.h"
#include "ops/registered.h"
#include "plugin/descs.h"
#include "plugin/kernels.h"
#include "plugin/named_files.h"
#include "plugin/operators.h"
#include "plugin/parts.h"
#include "plugin/probe.h"

namespace tim::plugin {
namespace {

// A plug-in that is loaded, with its devices that are in use.
class Entry {
 public:
  Entry(Loaded loaded, PluginOptionList vendor, int64_t pool_bytes)
      : loaded(std::move(loaded)),
        vendor(std::move(vendor)),
        pool_bytes_(pool_bytes),
        open_(this->loaded.devices.size()) {}

  Result<std::shared_ptr<PluginDevice>> Open(size_t number) {
    const std::lock_guard lock(mutex_);
    if (number >= open_.size()) {
      return NotFound("device ", loaded.plugin->kind(), ":", number,
                      ": there are ", open_.size());
    }
    auto shared = open_[number].lock();
    if (shared != nullptr && shared->CheckUsable().ok()) return shared;
    TIM_ASSIGN_OR_RETURN(
        auto device,
        PluginDevice::Open(loaded.plugin, static_cast<uint32_t>(number),
                           pool_bytes_));
    open_[number] = device;
    return device;
  }

  // The device that the compiler was told of.
  Result<std::shared_ptr<PluginDevice>> Open(const ir::DeviceInfo& info) {
    for (size_t i = 0; i < loaded.devices.size(); ++i) {
      const TimDeviceProps& props = loaded.devices[i].props;
      if (info.name == props.name && info.vendor == props.vendor) {
        return Open(i);
      }
    }
    return NotFound("no device '", info.name, "' of plug-in ",
                    loaded.plugin->kind());
  }

  // Owners of devices; none can be opened any more where there are none.
  long Close() {
    const std::lock_guard lock(mutex_);
    long users = 0;
    for (const auto& device : open_) users += device.use_count();
    if (users == 0) open_.clear();
    return users;
  }

  std::vector<TimDeviceProps> Props() const {
    std::vector<TimDeviceProps> props;
    for (const Described& device : loaded.devices) {
      props.push_back(device.props);
    }
    return props;
  }

  Loaded loaded;
  const PluginOptionList vendor;

 private:
  const int64_t pool_bytes_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<PluginDevice>> open_;
};

using Entries = std::vector<std::shared_ptr<Entry>>;

struct State {
  std::mutex mutex;  // held while one is loaded or unloaded
  Entries entries;
  std::vector<PluginFacts> failures;
  bool named = false;  // TIMCL_PLUGINS was looked at
};

constinit GlobalPerProcess<State> g_state;
// Loaded by this process or one that it was forked off.
constinit std::atomic<uint32_t> g_loads = 0;

Status AddTo(ir::OpRegistry& registry, const std::shared_ptr<Entry>& entry) {
  const auto& plugin = entry->loaded.plugin;
  const PluginTables& tables = plugin->tables();
  for (size_t i = 0; i < tables.op_list.size(); ++i) {
    auto schema = OperatorOf(plugin, i);
    if (!schema.ok()) {
      return schema.status().WithContext(
          StrCat("operator ", tables.op_list[i].name));
    }
    registry.Add(*std::move(schema));
  }
  for (size_t i = 0; i < tables.kernel_list.size(); ++i) {
    ir::KernelDef kernel = KernelOf(plugin, i, entry->Props());
    for (const ir::KernelDef* other : registry.Kernels()) {
      if (other->name != kernel.name) continue;
      return InvalidArgument("there is a kernel ", kernel.name, " already");
    }
    registry.Add(std::move(kernel));
  }
  if (!tables.has_graphs) return OkStatus();
  // Weak: the registry is kept by contexts, which do not keep devices open.
  const DeviceFor device =
      [weak = std::weak_ptr(entry)](
          const ir::DeviceInfo& info) -> Result<std::shared_ptr<PluginDevice>> {
    const auto held = weak.lock();
    if (held == nullptr) {
      return FailedPrecondition("the plug-in is not loaded any more");
    }
    return held->Open(info);
  };
  registry.Add(PartsOf(plugin, device, registry, entry->vendor));
  registry.Add(PartKernelOf(plugin, device, entry->vendor));
  return OkStatus();
}

// kInvalidArgument where operators and kernels of the plug-ins contradict each
// other or the built-in ones.
Status CheckTogether(const Entries& entries) {
  ir::OpRegistry registry(&ops::BuiltinOperators());
  for (const auto& entry : entries) {
    TIM_RETURN_IF_ERROR(AddTo(registry, entry));
  }
  const Status sound = registry.Check();
  if (sound.ok()) return sound;
  return InvalidArgument("its operators do not fit: ", sound.message());
}

void Publish(const Entries& entries) {
  if (entries.empty()) return ops::SetTopOperators(nullptr);
  ops::SetTopOperators([entries](ir::OpRegistry& registry) {
    for (const auto& entry : entries) {
      // CheckTogether() has added all entries before, without a failure.
      static_cast<void>(AddTo(registry, entry));
    }
  });
}

device::DeviceSource SourceOf(const std::shared_ptr<Entry>& entry) {
  std::vector<device::SourceDevice> list;
  for (const Described& device : entry->loaded.devices) {
    const bool imports =
        entry->loaded.plugin->tables().device.import_host != nullptr;
    list.push_back(
        {.info = InfoOf(device.props, entry->loaded.plugin->kind(), imports),
         .score = device.props.score,
         .reason = device.reason});
  }
  return {
      .kind = entry->loaded.plugin->kind(),
      .list = [list] { return list; },
      .open = [entry](int number) -> Result<std::shared_ptr<device::Device>> {
        TIM_ASSIGN_OR_RETURN(std::shared_ptr<device::Device> device,
                             entry->Open(static_cast<size_t>(number)));
        return device;
      }};
}

std::function<bool(const std::string&)> TakenIn(const State& state) {
  return [&state](const std::string& kind) {
    return std::any_of(state.entries.begin(), state.entries.end(),
                       [&](const auto& entry) {
                         return entry->loaded.plugin->kind() == kind;
                       });
  };
}

// The caller holds the mutex.
Status Add(State& state, Loaded loaded, const PluginOptionList& vendor,
           const LoadOptions& options) {
  const auto plugin = loaded.plugin;
  auto entry =
      std::make_shared<Entry>(std::move(loaded), vendor, options.pool_bytes);
  Entries entries = state.entries;
  entries.push_back(entry);
  Status status = CheckTogether(entries);
  if (status.ok()) status = device::AddDeviceSource(SourceOf(entry));
  if (!status.ok()) {
    plugin->ShutDown();
    return status.WithContext(plugin->path());
  }
  state.entries = std::move(entries);
  Publish(state.entries);
  g_loads.fetch_add(1);
  return OkStatus();
}

// Plug-ins have threads and devices of their own, which a fork does not copy.
Status CheckProcess(const State& state) {
  if (!state.entries.empty() || g_loads == 0 || Forks() == 0) return OkStatus();
  return FailedPrecondition(
      "plug-ins were loaded before this process was forked off; load them in "
      "the forked process only");
}

// The caller holds the mutex.
Status Load(State& state, const std::string& path,
            const PluginOptionList& vendor, const LoadOptions& options) {
  TIM_RETURN_IF_ERROR(CheckProcess(state));
  if (options.watch.probe) {
    TIM_RETURN_IF_ERROR(ProbeFile(path, vendor, options.environment));
  }
  TIM_ASSIGN_OR_RETURN(Loaded loaded,
                       LoadFile(path, vendor, options.watch, TakenIn(state)));
  return Add(state, std::move(loaded), vendor, options);
}

std::string AbiText(uint16_t major, uint16_t minor) {
  return StrCat(major, ".", minor);
}

PluginFacts FactsOf(const Entry& entry) {
  const LoadedPlugin& plugin = *entry.loaded.plugin;
  const TimPlugin& table = plugin.tables().plugin;
  PluginFacts facts;
  facts.path = plugin.path();
  facts.kind = plugin.kind();
  facts.version = table.version == nullptr ? "" : table.version;
  facts.abi = AbiText(table.abi_major, table.abi_minor);
  facts.error = plugin.quarantine();
  facts.loaded = true;
  for (size_t i = 0; i < entry.loaded.devices.size(); ++i) {
    facts.devices.push_back(StrCat(plugin.kind(), ":", i));
  }
  facts.not_offered = entry.loaded.not_offered;
  return facts;
}

}  // namespace

Status LoadPlugin(const std::string& path, const PluginOptionList& vendor,
                  const LoadOptions& options) {
  State& state = g_state.Get();
  const std::lock_guard lock(state.mutex);
  const Status status = Load(state, path, vendor, options);
  if (!status.ok()) {
    state.failures.push_back({.path = path, .error = status.message()});
  }
  return status;
}

Status LoadPluginTable(const TimPlugin* table, const PluginOptionList& vendor,
                       const LoadOptions& options) {
  State& state = g_state.Get();
  const std::lock_guard lock(state.mutex);
  TIM_RETURN_IF_ERROR(CheckProcess(state));
  TIM_ASSIGN_OR_RETURN(Loaded loaded, LoadTable("table", nullptr, table, vendor,
                                                options.watch, TakenIn(state)));
  return Add(state, std::move(loaded), vendor, options);
}

Status UnloadPlugin(const std::string& kind) {
  State& state = g_state.Get();
  const std::lock_guard lock(state.mutex);
  const auto found = std::find_if(
      state.entries.begin(), state.entries.end(),
      [&](const auto& entry) { return entry->loaded.plugin->kind() == kind; });
  if (found == state.entries.end()) {
    std::string kinds;
    for (const auto& entry : state.entries) {
      kinds += StrCat(kinds.empty() ? "" : ", ", entry->loaded.plugin->kind());
    }
    return NotFound("there is no plug-in '", kind, "'; ",
                    kinds.empty() ? "none is loaded" : "there are ", kinds);
  }
  const std::shared_ptr<Entry> entry = *found;
  const long users = entry->Close();
  if (users > 0) {
    return FailedPrecondition("plug-in ", kind, " is in use: its devices have ",
                              users, " users (contexts and graphs)");
  }
  Entries entries = state.entries;
  entries.erase(entries.begin() + (found - state.entries.begin()));
  state.entries = std::move(entries);
  Publish(state.entries);
  device::RemoveDeviceSource(kind);
  entry->loaded.plugin->ShutDown();
  return OkStatus();
}

std::vector<PluginFacts> Plugins() {
  State& state = g_state.Get();
  const std::lock_guard lock(state.mutex);
  std::vector<PluginFacts> facts;
  for (const auto& entry : state.entries) facts.push_back(FactsOf(*entry));
  facts.insert(facts.end(), state.failures.begin(), state.failures.end());
  return facts;
}

std::vector<Loaded> LoadedOnes() {
  State& state = g_state.Get();
  const std::lock_guard lock(state.mutex);
  std::vector<Loaded> loaded;
  for (const auto& entry : state.entries) loaded.push_back(entry->loaded);
  return loaded;
}

void LoadNamedPlugins(const LoadOptions& options) {
  State& state = g_state.Get();
  const std::lock_guard lock(state.mutex);
  if (std::exchange(state.named, true) || options.watch.files.empty()) return;
  // A program with the rights of another user is not told what to load.
  if (getauxval(AT_SECURE) != 0) return;
  for (const NamedFile& file : NamedFiles(options.watch.files)) {
    Status status = file.status;
    if (status.ok()) status = Load(state, file.path, file.options, options);
    if (status.ok()) continue;
    TIM_LOG(kWarning, "TIMCL_PLUGINS: ", status.message());
    state.failures.push_back({.path = file.path, .error = status.message()});
  }
}

}  // namespace tim::plugin
