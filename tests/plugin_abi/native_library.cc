// The plug-in with streams of its own as a library, with all that it can do.
#include "tests/plugin_abi/native_plugin.h"

extern "C" TIM_PLUGIN_EXPORT const TimPlugin* TimPluginGet(uint16_t host_major,
                                                           uint16_t) {
  if (host_major != TIM_ABI_MAJOR) return nullptr;
  return tim::testing::NativePlugin({.fill = true, .on_done = true});
}
