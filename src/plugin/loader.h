// Loading of files, up to plug-ins that are initialized.
#ifndef TIM_PLUGIN_LOADER_H_
#define TIM_PLUGIN_LOADER_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/status.h"
#include "plugin/loaded_plugin.h"
#include "plugin/plugin_device.h"
#include "tim/plugin/tim_plugin.h"

namespace tim::plugin {

using PluginOptionList = std::vector<std::pair<std::string, std::string>>;

/// A plug-in with what it said of itself.
struct Loaded {
  std::shared_ptr<LoadedPlugin> plugin;
  std::vector<Described> devices;
  std::vector<std::string> not_offered;  ///< "TimDeviceFns::copy"
};

/// Opens the file, checks what it offers and initializes it.  The failure says
/// what does not fit and what was expected.
/// \param taken whether there are devices of this kind.
Result<Loaded> LoadFile(const std::string& path,
                        const PluginOptionList& options,
                        const PluginOptions& watch,
                        const std::function<bool(const std::string&)>& taken);

/// The same of a table that is in this process.
/// \param library of dlopen(), or null.
Result<Loaded> LoadTable(const std::string& path, void* library,
                         const TimPlugin* table,
                         const PluginOptionList& options,
                         const PluginOptions& watch,
                         const std::function<bool(const std::string&)>& taken);

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_LOADER_H_
