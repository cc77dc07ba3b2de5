// From a graph to a plan.
#ifndef TIM_COMPILER_COMPILER_H_
#define TIM_COMPILER_COMPILER_H_

#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/device_info.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "ir/plan.h"

namespace tim::compiler {

/// What folding a node of constants may cost.  A node beyond a limit is kept
/// and runs like any other.
struct FoldLimits {
  /// Its results have at most `growth` times the bytes of its inputs, or at
  /// most `small_bytes`.
  double growth = 4;
  double small_bytes = 1 << 20;
  /// Estimated arithmetic operations, and elements of its results.
  double operations = 1e8;
};

struct CompileOptions {
  /// devices[0] is the host; the others are preferred over it.
  std::vector<ir::DeviceInfo> devices;
  /// A host step beside another device is an error.
  bool strict = false;
  FoldLimits fold = {};
  /// Where a node must run (index in `devices`), or -1 for the cheapest.
  std::function<int(const ir::Node&)> placement = nullptr;
  /// Called once types and shapes are inferred, before kernels are chosen.
  std::function<Status(const ir::Graph&)> inferred = nullptr;
  /// Called after each pass with its name and the graph's dump.
  std::function<void(const std::string& pass, const std::string& dump)>
      dump_sink = nullptr;
};

/// Runs every pass.  Errors name graph, operation and rule.
/// Thread-safe: no global state; `registry` is only read.
Result<ir::Plan> Compile(ir::Graph graph, const ir::OpRegistry& registry,
                         const CompileOptions& options);

/// Only verification and inference of types and shapes, in place.
Status InferGraph(ir::Graph* graph, const ir::OpRegistry& registry);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_COMPILER_H_
