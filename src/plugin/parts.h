// Graph mode of plug-ins: claims, edits and parts as the compiler knows them.
#ifndef TIM_PLUGIN_PARTS_H_
#define TIM_PLUGIN_PARTS_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/kernel_def.h"
#include "ir/op_registry.h"
#include "ir/part_def.h"
#include "plugin/loaded_plugin.h"
#include "plugin/plugin_device.h"

namespace tim::plugin {

/// Opens the plug-in's device that a DeviceInfo tells of, or gives it where it
/// is open.
using DeviceFor =
    std::function<Result<std::shared_ptr<PluginDevice>>(const ir::DeviceInfo&)>;

/// The option min_nodes, the least size of a part; 1 where it is not given.
Result<int> MinNodesOf(
    const std::vector<std::pair<std::string, std::string>>& options);

/// The way in which its devices run parts.
/// A min_nodes that MinNodesOf() refuses counts as 1.
/// \param operators those that edits may name; they outlive the definition.
ir::PartDef PartsOf(const std::shared_ptr<const LoadedPlugin>& loaded,
                    DeviceFor device, const ir::OpRegistry& operators,
                    std::vector<std::pair<std::string, std::string>> options);

/// The kernel of composites that the compiler makes of claims: one step, an
/// ir::GraphCall.
ir::KernelDef PartKernelOf(
    const std::shared_ptr<const LoadedPlugin>& loaded, DeviceFor device,
    std::vector<std::pair<std::string, std::string>> options);

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_PARTS_H_
