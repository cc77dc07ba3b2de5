// A plug-in loaded by another process, before this one does.
#ifndef TIM_PLUGIN_PROBE_H_
#define TIM_PLUGIN_PROBE_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "plugin/loader.h"

namespace tim::plugin {

/// Runs `timcl plugin-check --probe <path>` with an --option for each of
/// `options`, where timcl is found by PATH.
/// kFailedPrecondition where that fails or the program is not there.
/// \param environment of the program: "NAME=value" each.  Variables by which it
///     would load plug-ins itself are left out.
Status ProbeFile(const std::string& path, const PluginOptionList& options,
                 const std::vector<std::string>& environment);

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_PROBE_H_
