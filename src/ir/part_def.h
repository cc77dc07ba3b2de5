// A way to run subgraphs: the own graph compiler of a kind of device.
#ifndef TIM_IR_PART_DEF_H_
#define TIM_IR_PART_DEF_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/device_info.h"
#include "ir/graph.h"
#include "ir/kernel_def.h"

namespace tim::ir {

/// Nodes that a device would run as one.
struct PartClaim {
  std::string name;           ///< For messages.
  std::vector<NodeId> nodes;  ///< Of the graph that was shown.
  double microseconds = 0;    ///< Predicted for one run of them.
  /// Constants whose content the compiled part would hold.
  std::vector<ValueId> constants;
};

/// What a device would run of a graph, and what not.
struct PartClaims {
  std::vector<PartClaim> claims;                        ///< Sets may overlap.
  std::vector<std::pair<NodeId, std::string>> refused;  ///< With the reason.
};

/// The functions are pure and any thread may call them, several at a time; they
/// keep no reference to an argument.  A failure is no failure of the Compile,
/// which goes on without the device's parts.
struct PartDef {
  std::string name;  ///< Unique: "acme.graph".
  std::string device_kind;
  /// Claims become ir::GraphCall steps.  False: the nodes of a claim are only
  /// to be kept on the device together.
  bool compiles = true;
  int min_nodes = 1;  ///< Smaller parts are not worth a call.
  /// Of every GraphCall.
  std::vector<std::pair<std::string, std::string>> options;
  /// Asked of a graph whose extents are known, before its operators are fused;
  /// once per Compile, and several times of a graph with composites.
  std::function<Result<PartClaims>(const Graph&, const DeviceInfo&)> claim;
  /// Tuples that a part takes for its inputs and outputs, best first.  Null:
  /// everything dense.
  std::function<Result<std::vector<LayoutTuple>>(const Graph& part,
                                                 const DeviceInfo&)>
      layouts = nullptr;
  /// A graph that computes the same, of the same inputs, outputs, states and
  /// effects.  `level` is 0 behind the inference of shapes, 2 once the graph
  /// has been simplified.  Null: none.
  std::function<Result<Graph>(const Graph&, int level, const DeviceInfo&)>
      optimize = nullptr;
};

}  // namespace tim::ir

#endif  // TIM_IR_PART_DEF_H_
