// From a graph to a plan.
#ifndef TIM_COMPILER_COMPILER_H_
#define TIM_COMPILER_COMPILER_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/links.h"
#include "compiler/policy.h"
#include "ir/device_info.h"
#include "ir/graph.h"
#include "ir/kernel_def.h"
#include "ir/layout.h"
#include "ir/op_registry.h"
#include "ir/plan.h"

namespace tim::compiler {

using ir::FoldLimits;

/// A kernel that a device could neither build nor launch when an earlier plan
/// of the graph was prepared.
struct RefusedKernel {
  int device = 0;      ///< Index in CompileOptions::devices.
  std::string kernel;  ///< KernelDef::name.
  std::string node;    ///< ir::Node::name of the only one that is meant; empty:
                       ///< of all.
  std::string reason;  ///< One line.
};

/// Where the memory of a graph's input or output is, in every run.
struct Port {
  int device = 0;  ///< Index in CompileOptions::devices.
  /// On a device dense or blocked.  On the host strided, too; an output that is
  /// kAny there leaves in the layout that it is made in, which Plan::outputs
  /// tells.
  ir::Layout layout = {};
  /// An output stays where it is made, in the layout that it has there;
  /// Plan::outputs tells both.  `device` and `layout` mean nothing.
  bool free = false;
};

struct CompileOptions {
  /// devices[0] is the host; the others are preferred over it.
  std::vector<ir::DeviceInfo> devices;
  /// A host step beside another device is an error.
  bool strict = false;
  /// A doubt (see module.h) is a warning; else an error.
  bool lenient = true;
  /// The graph was compiled before: what is doubtful in it was said then.
  bool was_compiled = false;
  /// Warnings about doubts that the caller has seen, which are not repeated,
  /// and to which those of this Compile are added.  Null: none.
  std::set<std::string>* known_doubts = nullptr;
  FoldLimits fold = {};
  /// The graph comes back with other extents: KernelNode::many_shapes of all
  /// nodes, and no chains, whose programs hold for one sequence of kernels.
  bool many_shapes = false;
  /// A node with an operand of more elements is done in pieces, where it can.
  int64_t piece_elements = ir::kMostKernelElements;
  /// What is no candidate any more.  Where there are any, the graph has been
  /// compiled without, and doubts have been told.
  std::vector<RefusedKernel> refused = {};
  /// Ports by number of the graph's inputs and outputs; those beyond the end
  /// are dense and on the host.
  std::vector<Port> inputs = {};
  std::vector<Port> outputs = {};
  /// Rules for dividing the graph among several devices beside the host.
  Policy policy = {};
  /// Costs of moving values from one device to another.
  LinkTable links = {};
  /// Observes: called after each pass with its name and the graph, and again
  /// from the start where the graph is compiled once more.
  std::function<void(const std::string& pass, const ir::Graph& graph)>
      dump_sink = nullptr;
};

/// A graph that was verified and whose values have types and shapes.
struct InferredGraph {
  ir::Graph graph;
  /// Reshapes that were added to keep shapes which their values declare.
  std::vector<ir::NodeId> declared_reshapes;
};

/// The first half of Compile(): verifies the graph, infers types and shapes,
/// tells doubts.  Errors name graph, operation and rule.
/// Thread-safe: no global state; `registry` is only read.
Result<InferredGraph> Infer(ir::Graph graph, const ir::OpRegistry& registry,
                            const CompileOptions& options);
/// The second half: chooses kernels and layouts and makes the plan, which
/// follows from the arguments alone.  Errors and threads as of Infer().
Result<ir::Plan> Compile(InferredGraph inferred, const ir::OpRegistry& registry,
                         const CompileOptions& options);
/// Both halves.
Result<ir::Plan> Compile(ir::Graph graph, const ir::OpRegistry& registry,
                         const CompileOptions& options);

/// Only verification and inference of types and shapes, in place; says no
/// doubts.
Status InferGraph(ir::Graph* graph, const ir::OpRegistry& registry);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_COMPILER_H_
