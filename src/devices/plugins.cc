// The part of the facade tim::devices that is about plug-ins.
#include "tim/devices/plugins.h"

#include <utility>

#include "base/guarded.h"
#include "base/options.h"
#include "base/status.h"
#include "devices/failure.h"
#include "ops/registered.h"
#include "plugin/plugins.h"
#include "runtime/named_plugins.h"

namespace tim::devices {
namespace {

template <typename Call>
bool Tell(const Call& call) {
  const Status status = GuardedCall(call);
  return status.ok() || Fail(status);
}

PluginFacts FactsOf(plugin::PluginFacts found) {
  PluginFacts facts;
  facts.path = std::move(found.path);
  facts.kind = std::move(found.kind);
  facts.version = std::move(found.version);
  facts.abi = std::move(found.abi);
  facts.error = std::move(found.error);
  facts.loaded = found.loaded;
  facts.devices = std::move(found.devices);
  facts.not_offered = std::move(found.not_offered);
  return facts;
}

}  // namespace

bool LoadPlugin(
    const std::string& path,
    const std::vector<std::pair<std::string, std::string>>& options) {
  return Tell([&] {
    runtime::LoadNamedPlugins(GetOptions());
    return plugin::LoadPlugin(path, options,
                              runtime::LoadOptionsOf(GetOptions()));
  });
}

bool UnloadPlugin(const std::string& kind) {
  return Tell([&] { return plugin::UnloadPlugin(kind); });
}

std::vector<PluginFacts> Plugins() {
  std::vector<PluginFacts> list;
  static_cast<void>(Tell([&] {
    runtime::LoadNamedPlugins(GetOptions());
    for (auto& found : plugin::Plugins()) {
      list.push_back(FactsOf(std::move(found)));
    }
    return OkStatus();
  }));
  return list;
}

bool FindOperator(const std::string& name) {
  bool found = false;
  static_cast<void>(Tell([&] {
    runtime::LoadNamedPlugins(GetOptions());
    found = ops::KnownOperators().Find(name) != nullptr;
    return OkStatus();
  }));
  return found;
}

}  // namespace tim::devices
