// The plug-ins of this process.
#ifndef TIM_PLUGIN_PLUGINS_H_
#define TIM_PLUGIN_PLUGINS_H_

#include <memory>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/status.h"
#include "plugin/loader.h"
#include "tim/plugin/tim_plugin.h"

namespace tim::plugin {

/// A plug-in, or a file that could not be loaded.
struct PluginFacts {
  std::string path;
  std::string kind = {};
  std::string version = {};  ///< The vendor's version.
  std::string abi = {};      ///< "1.0"
  std::string error = {};    ///< Reason why graphs do without it.
  bool loaded = false;
  std::vector<std::string> devices = {};      ///< "acme:0"
  std::vector<std::string> not_offered = {};  ///< "TimDeviceFns::copy"
};

/// Options of the library that plug-ins are loaded with.
struct LoadOptions {
  PluginOptions watch = {};
  int64_t pool_bytes = 0;  ///< Limit of each device's pool; 0: none.
  /// "NAME=value" each, for the process that probes them.
  std::vector<std::string> environment = {};
};

/// Loads a plug-in: its devices are device::DeviceSources() from then on, its
/// kernels and operators ops::KnownOperators().  Graphs that were compiled
/// before keep what they have.  Any thread, as below.
Status LoadPlugin(const std::string& path, const PluginOptionList& vendor,
                  const LoadOptions& options);
/// The same of a table in this process.
Status LoadPluginTable(const TimPlugin* table, const PluginOptionList& vendor,
                       const LoadOptions& options);

/// Unloads a plug-in.  kFailedPrecondition while its devices are in use, with
/// their number; kNotFound where there is none of this kind.
Status UnloadPlugin(const std::string& kind);

/// All in the order of loading; then files that could not be loaded.
std::vector<PluginFacts> Plugins();

/// Plug-ins that are loaded now, for checks of them.
std::vector<Loaded> LoadedOnes();

/// Loads those that TIMCL_PLUGINS names, once per process; the first call
/// decides.  What cannot be loaded is a warning.
void LoadNamedPlugins(const LoadOptions& options);

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_PLUGINS_H_
