// Tables, versions, opening and closing.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "plugin/host_table.h"
#include "tools/timcl/plugin_checks.h"

namespace tim::tool {
namespace {

using Entry = const TimPlugin* (*)(uint16_t, uint16_t);

Entry EntryOf(CheckedPlugin& plugin) {
  const std::string file = plugin.path.find('/') == std::string::npos
                               ? "./" + plugin.path
                               : plugin.path;
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    plugin.Fail(dlerror());
    return nullptr;
  }
  void* const symbol = dlsym(library, "TimPluginGet");
  if (symbol == nullptr) plugin.Fail("there is no TimPluginGet()");
  return reinterpret_cast<Entry>(symbol);
}

bool g_overrun = false;  // a member beyond struct_size was called

TimCode Beyond() {
  g_overrun = true;
  return TIM_INTERNAL_ERROR;
}

// The host's table, of which the plug-in may read `bytes`; what lies behind is
// a function that nobody may call.
TimHost ShortHost(uint32_t bytes) {
  TimHost host;
  auto* const slots = reinterpret_cast<TimCode (**)()>(&host);
  std::fill(slots, slots + sizeof(host) / sizeof(*slots), Beyond);
  std::memcpy(static_cast<void*>(&host), &plugin::Host(), bytes);
  host.struct_size = bytes;
  return host;
}

// A plug-in may refuse a library that offers less, but reads no further.
void CheckShortHosts(CheckedPlugin& plugin, const TimPlugin& table) {
  const uint32_t ends[] = {TIM_SIZE_THROUGH(TimHost, version),
                           TIM_SIZE_THROUGH(TimHost, log),
                           TIM_SIZE_THROUGH(TimHost, parallel_for),
                           TIM_SIZE_THROUGH(TimHost, store_save),
                           TIM_SIZE_THROUGH(TimHost, pool_allocate)};
  for (const uint32_t end : ends) {
    if (end < TIM_SIZE_THROUGH(TimHost, sinks)) continue;  // 1.0 has these
    const TimHost host = ShortHost(end);
    plugin::MessageRoom room;
    const TimCode code = table.initialize(&host, nullptr, 0, room.get());
    if (g_overrun) {
      return plugin.Fail(
          "initialize() calls members of TimHost beyond its "
          "struct_size of ",
          end);
    }
    if (code == TIM_OK) table.shutdown();
  }
}

}  // namespace

void CheckTables(CheckedPlugin& plugin) {
  const Entry entry = EntryOf(plugin);
  if (entry == nullptr) return;
  const TimPlugin* const table = entry(TIM_ABI_MAJOR, TIM_ABI_MINOR);
  if (table == nullptr) {
    return plugin.Fail("TimPluginGet(1, 0) gives NULL");
  }
  if (entry(TIM_ABI_MAJOR, 99) != table) {
    plugin.Fail(
        "TimPluginGet(1, 99) gives another table than (1, 0): a later "
        "minor version is still served");
  }
  const TimPlugin* const next = entry(TIM_ABI_MAJOR + 1, 0);
  if (next != nullptr && next->abi_major == TIM_ABI_MAJOR) {
    plugin.Fail(
        "TimPluginGet(2, 0) gives a table of version 1: it cannot "
        "serve that host");
  }
  if (!plugin.Load()) return;
  const plugin::PluginTables& tables = plugin.loaded.plugin->tables();
  const std::pair<const char*, uint32_t> reserved[] = {
      {"TimDeviceFns", tables.device.reserved},
      {"TimKernelFns", tables.kernels.reserved},
      {"TimGraphFns", tables.graphs.reserved},
      {"TimOpFns", tables.ops.reserved}};
  for (const auto& [name, value] : reserved) {
    if (value != 0) plugin.Fail(name, "::reserved is ", value);
  }
  if ((tables.plugin.flags & ~uint64_t{TIM_PLUGIN_UNLOADABLE}) != 0) {
    plugin.Fail("TimPlugin::flags has bits that mean nothing");
  }
  plugin.loaded.plugin->ShutDown();
  CheckShortHosts(plugin, *table);
}

void CheckLife(CheckedPlugin& plugin) {
  for (int i = 0; i < 2; ++i) {
    if (!plugin.Load()) return;
    if (i == 0) plugin.loaded.plugin->ShutDown();
  }
  const plugin::LoadedPlugin& loaded = *plugin.loaded.plugin;
  for (uint32_t d = 0; d < plugin.loaded.devices.size(); ++d) {
    const auto again = plugin::Describe(loaded, d);
    if (!plugin.Expect(again.status(), "describe()")) return;
    if (std::memcmp(&again->props, &plugin.loaded.devices[d].props,
                    sizeof(again->props)) != 0) {
      plugin.Fail("describe(", d, ") gives other bytes the second time");
    }
  }
  if (plugin.Devices().empty()) return;
  const auto free_bytes = [&](plugin::PluginDevice& device) -> uint64_t {
    uint64_t left = 0;
    uint64_t total = 0;
    const auto function = device.functions().memory_info;
    if (function == nullptr) return 0;
    plugin.Expect(
        device.Call("TimDeviceFns::memory_info", function, &left, &total),
        "memory_info()");
    if (left > total) plugin.Fail("memory_info(): more is free than there is");
    return left;
  };
  const uint64_t before = free_bytes(*plugin.Devices()[0]);
  const TimPlugin& table = loaded.tables().plugin;
  for (int i = 0; i < 100; ++i) {
    TimDevice* device = nullptr;
    if (!plugin.Expect(loaded.Call("TimPlugin::open", table.open, 0u, &device),
                       StrCat("open() for the time ", i + 2))) {
      return;
    }
    loaded.Tell("TimPlugin::close", table.close, device);
  }
  // Others may use the device, too.
  constexpr uint64_t kSlack = 8 << 20;
  const uint64_t after = free_bytes(*plugin.Devices()[0]);
  if (after + kSlack >= before) return;
  plugin.Fail("memory_info(): ", before - after,
              " bytes do not come back when the device was opened and closed a "
              "hundred times");
}

// This process ends without unloading, too.
void CheckUnloading(CheckedPlugin& plugin) {
  for (int i = 0; i < 3; ++i) {
    if (!plugin.Load()) return;
    if (i == 2) break;
    const bool unloadable = (plugin.loaded.plugin->tables().plugin.flags &
                             TIM_PLUGIN_UNLOADABLE) != 0;
    plugin.loaded.plugin->ShutDown();
    plugin.loaded = {};
    const std::string file = plugin.path.find('/') == std::string::npos
                                 ? "./" + plugin.path
                                 : plugin.path;
    void* const mapped =
        dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (mapped == nullptr) continue;
    dlclose(mapped);
    if (unloadable && i > 0) {
      plugin.Fail(
          "it is UNLOADABLE and still mapped after unloading: "
          "something of it keeps it (thread-local objects, "
          "STB_GNU_UNIQUE symbols)");
    }
  }
}

}  // namespace tim::tool
