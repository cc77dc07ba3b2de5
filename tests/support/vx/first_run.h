// Which kernels the driver has built, for tests of what a first run costs.
#ifndef TIM_TESTS_SUPPORT_VX_FIRST_RUN_H_
#define TIM_TESTS_SUPPORT_VX_FIRST_RUN_H_

#include <functional>
#include <map>
#include <set>
#include <string>

#include "tim/vx/graph.h"

namespace tim::testing {

/// Calls `test` in a process of its own, whose driver has built nothing yet.
/// \param variables of its environment, besides.
void WithNothingBuilt(const std::function<void()>& test,
                      std::map<std::string, std::string> variables = {});

/// The binaries that PoCL has made of kernels; none of other drivers.
std::set<std::string> BuiltKernels();

/// Whether the driver builds users' kernels when they are first launched, and
/// earlier for those that ask.
bool BuildsKernelsEarly();

/// Compiles the graph and runs it: all that a run needs of the driver is there
/// before.
void ExpectBuiltByCompile(vx::Graph& graph);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_VX_FIRST_RUN_H_
