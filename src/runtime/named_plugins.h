// Plug-ins that the environment names, loaded when a front first asks for
// devices.
#ifndef TIM_RUNTIME_NAMED_PLUGINS_H_
#define TIM_RUNTIME_NAMED_PLUGINS_H_

#include "base/options.h"
#include "plugin/plugins.h"

namespace tim::runtime {

/// Options of the process for plug-ins.
plugin::LoadOptions LoadOptionsOf(const Options& options);

/// Loads those of TIMCL_PLUGINS, once per process.  Cheap after the first call.
/// Any thread.
void LoadNamedPlugins(const Options& options);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_NAMED_PLUGINS_H_
