// A plug-in loaded by another process, before this one does.
#ifndef TIM_PLUGIN_PROBE_H_
#define TIM_PLUGIN_PROBE_H_

#include <string>

#include "base/status.h"

namespace tim::plugin {

/// Runs `timcl plugin-check --probe <path>`, where timcl is found by PATH.
/// kFailedPrecondition where that fails or the program is not there.
/// \param environment of the program: "NAME=value" each, and a null.
Status ProbeFile(const std::string& path, char** environment);

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_PROBE_H_
