// Operators of plug-ins as the library knows operators.
#ifndef TIM_PLUGIN_OPERATORS_H_
#define TIM_PLUGIN_OPERATORS_H_

#include <cstddef>
#include <memory>

#include "base/status.h"
#include "ir/op_schema.h"
#include "plugin/loaded_plugin.h"

namespace tim::plugin {

/// Operator `index` of the plug-in's list.  Its functions make views and sinks.
/// kInvalidArgument names what does not fit of its counts and attributes.
Result<ir::OpSchema> OperatorOf(
    const std::shared_ptr<const LoadedPlugin>& plugin, size_t index);

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_OPERATORS_H_
