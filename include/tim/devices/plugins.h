// Shared libraries that bring devices, kernels and operators: docs/plugins.md.
#ifndef TIM_DEVICES_PLUGINS_H_
#define TIM_DEVICES_PLUGINS_H_

#include <string>
#include <utility>
#include <vector>

#include "tim/vx/export.h"

namespace tim {
namespace devices {

/// A plug-in, or a file that could not be loaded.
struct PluginFacts {
  std::string path;
  std::string kind;     ///< "acme": its devices are "acme:0", "acme:1", ...
  std::string version;  ///< The vendor's version.
  std::string abi;      ///< "1.0", the version of the interface.
  /// The reason why it is not loaded, or why graphs do without it; else empty.
  std::string error;
  bool loaded = false;
  std::vector<std::string> devices;      ///< "acme:0"
  std::vector<std::string> not_offered;  ///< Functions: "TimDeviceFns::copy".
};

/// Loads a plug-in.  Its devices are behind all others from then on, and no
/// graph uses them that does not name them; its operators are known by name
/// (tim/vx/named_op.h), its kernels for OpenCL devices are used like others.
/// Any thread, as all functions here.
///
/// Errors: false, and LastError() (tim/devices/devices.h) says why.
/// \param options key and value each, for the plug-in; behind a file that
///     TIMCL_PLUGINS names they are "?key=value&key=value".
TIM_VX_API bool LoadPlugin(
    const std::string& path,
    const std::vector<std::pair<std::string, std::string>>& options = {});

/// Unloads a plug-in.  Errors: false where there is none of this kind, and
/// while contexts or graphs use its devices.
TIM_VX_API bool UnloadPlugin(const std::string& kind);

/// Plug-ins in the order of loading, those of TIMCL_PLUGINS among them, then
/// files that could not be loaded.
TIM_VX_API std::vector<PluginFacts> Plugins();

/// True where an operator of this name is known now: "tim.Conv2d",
/// "acme.FancyNorm", "acme.FancyNorm@1".
TIM_VX_API bool FindOperator(const std::string& name);

}  // namespace devices
}  // namespace tim

#endif  // TIM_DEVICES_PLUGINS_H_
