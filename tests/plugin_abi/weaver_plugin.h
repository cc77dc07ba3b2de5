// A plug-in in this process whose compiler takes single nodes by their prices.
#ifndef TIM_TESTS_PLUGIN_ABI_WEAVER_PLUGIN_H_
#define TIM_TESTS_PLUGIN_ABI_WEAVER_PLUGIN_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tim/plugin/tim_plugin.h"

namespace tim::testing {

/// Claims and refusals of the device, and what it saw.
struct Weaver {
  std::map<std::string, double> prices;  ///< Microseconds by operator.
  bool holds_constants = false;
  bool refuses_composites = false;  ///< When it compiles.
  /// A composite: edits of graphs with it whole fail.
  std::string dislikes;
  int claims = 0;                        ///< Calls of claim().
  std::vector<std::string> compiled;     ///< Operators of parts, with bodies.
  std::set<std::string> seen_in_claims;  ///< Operators.
};
/// The weaver of the plug-in that is loaded.
Weaver& TheWeaver();

/// One device "weaver:0", which computes tim.Add, tim.Relu and tim.Neg of
/// floats, and composites of them.
const TimPlugin* WeaverPlugin();

}  // namespace tim::testing

#endif  // TIM_TESTS_PLUGIN_ABI_WEAVER_PLUGIN_H_
