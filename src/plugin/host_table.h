// Functions that the library offers plug-ins.
#ifndef TIM_PLUGIN_HOST_TABLE_H_
#define TIM_PLUGIN_HOST_TABLE_H_

#include "tim/plugin/tim_plugin.h"

namespace tim::plugin {

/// The same table for all plug-ins; it is never destroyed.
const TimHost& Host();

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_HOST_TABLE_H_
