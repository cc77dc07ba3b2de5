// A plug-in in this process whose device has streams and events of its own.
#ifndef TIM_TESTS_PLUGIN_ABI_NATIVE_PLUGIN_H_
#define TIM_TESTS_PLUGIN_ABI_NATIVE_PLUGIN_H_

#include <atomic>
#include <string>

#include "tim/plugin/tim_plugin.h"

namespace tim::testing {

struct NativeOptions {
  bool thread_safe = true;
  bool query = true;        ///< It offers TimDeviceFns::query.
  bool stream_wait = true;  ///< And stream_wait.
  bool fill = false;        ///< And fill.
  bool on_done = false;     ///< And on_done.
  int delay_us = 0;         ///< Of every step, and of every fill.
  /// A mistake that it makes: "done_twice", "done_never", "done_code",
  /// "done_dropped" (where the event is destroyed), "done_fails",
  /// "done_fails_and_calls", "done_not" (it is not implemented), "done_lost",
  /// "fill_beyond", "fill_nothing", "fill_not", "first_step_fails" (which the
  /// next event tells); empty: none.
  std::string mistake = {};
};

/// Calls of the plug-in so far.
struct NativeCalls {
  std::atomic<int> copies_in = 0;
  std::atomic<int> fills = 0;
  std::atomic<int> queries = 0;
  std::atomic<int> on_done = 0;
  std::atomic<int> steps = 0;      ///< Of the last plug-in.
  std::atomic<int> unaligned = 0;  ///< Pieces at no multiple of the alignment.
};
NativeCalls& CallsOfNative();

/// Two devices "native:0" and "native:1" of one domain, with a kernel for
/// tim.Relu.  Valid until the next call.  The option "mistake" of LoadPlugin()
/// goes before the one here.
const TimPlugin* NativePlugin(const NativeOptions& options);

}  // namespace tim::testing

#endif  // TIM_TESTS_PLUGIN_ABI_NATIVE_PLUGIN_H_
