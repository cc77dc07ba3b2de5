// A binary graph or model in a file, and what it becomes on devices of this
// machine.
#ifndef TIM_TOOLS_TIMCL_GRAPH_FILE_H_
#define TIM_TOOLS_TIMCL_GRAPH_FILE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "base/status.h"
#include "binary/blob.h"
#include "device/device.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "ir/plan.h"
#include "runtime/device_set.h"
#include "tools/timcl/arguments.h"

namespace tim::tool {

/// Maps the file, for as long as the blob or a copy lives: a binary graph, or a
/// model, which is imported.  kNotFound where it cannot be read or is neither;
/// the message names it; kInvalidArgument where a binary graph is given options
/// of a model.  Of models also the errors of OpenModel().
Result<binary::Blob> OpenGraphFile(const std::string& path,
                                   const ModelArguments& model);

/// A failure that is none of the command line and none of a file.
Status AsFailed(const Status& status);

/// The devices that `device` names, or TIMCL_DEVICE where it is empty.
Result<device::Devices> DevicesFor(const std::string& device,
                                   const DeviceOptions& options);

/// The division of graphs among these devices, of DevicesFor(device): by
/// TIMCL_POLICY.  kInvalidArgument where that has a mistake.
Result<runtime::Division> DivisionFor(const std::string& device,
                                      const device::Devices& devices);

/// The plan that a run of the file would have, without its programs: nothing is
/// built, so that kernels that a driver refuses are not known.
struct PlannedGraph {
  std::shared_ptr<ir::OpRegistry> registry;  ///< Operators of bodies in `plan`.
  ir::Plan plan;
  /// The reason why the plan is not the file's; ok: it is.
  Status stored = {};
};
Result<PlannedGraph> PlanOf(const binary::Blob& blob,
                            const device::Devices& devices,
                            const runtime::Division& division = {});

/// The graph as it was before it was compiled, with the library's operators
/// and those of the file, which are as `registry` has them.
Result<ir::Graph> GraphOf(const binary::Blob& blob, ir::OpRegistry* registry);

/// The names of which that of a fused node is made: "Conv2d#1+Relu#2" is of
/// two, other nodes are of one.
std::vector<std::string> PartsOf(std::string_view name);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_GRAPH_FILE_H_
