// Options of plug-ins, of the options of the process.
#include "runtime/named_plugins.h"

namespace tim::runtime {

plugin::LoadOptions LoadOptionsOf(const Options& options) {
  return {.watch = options.plugins,
          .pool_bytes = options.on_device.pool_bytes,
          .environment = options.environment};
}

void LoadNamedPlugins(const Options& options) {
  if (options.plugins.files.empty()) return;
  plugin::LoadNamedPlugins(LoadOptionsOf(options));
}

}  // namespace tim::runtime
