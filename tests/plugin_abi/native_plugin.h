// A plug-in in this process whose device has streams and events of its own.
#ifndef TIM_TESTS_PLUGIN_ABI_NATIVE_PLUGIN_H_
#define TIM_TESTS_PLUGIN_ABI_NATIVE_PLUGIN_H_

#include "tim/plugin/tim_plugin.h"

namespace tim::testing {

struct NativeOptions {
  bool thread_safe = true;
  bool query = true;        ///< It offers TimDeviceFns::query.
  bool stream_wait = true;  ///< And stream_wait.
  int delay_us = 0;         ///< Of every step.
};

/// Two devices "native:0" and "native:1" of one domain, with a kernel for
/// tim.Relu.  Valid until the next call.
const TimPlugin* NativePlugin(const NativeOptions& options);

}  // namespace tim::testing

#endif  // TIM_TESTS_PLUGIN_ABI_NATIVE_PLUGIN_H_
