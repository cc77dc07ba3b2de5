// What the passes hand to each other: the graph and one table per decision.
#ifndef TIM_COMPILER_MODULE_H_
#define TIM_COMPILER_MODULE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "ir/graph.h"
#include "ir/kernel_def.h"
#include "ir/op_registry.h"
#include "ir/plan.h"

namespace tim::compiler {

/// How a node runs.
enum class RunKind : uint8_t {
  kKernel,    ///< A KernelDef's steps.
  kEval,      ///< OpSchema::eval on a device that can.
  kView,      ///< No step: output 0 is input 0's memory.
  kTransfer,  ///< A copy of input 0 to output 0 on another device.
  kControl,   ///< The runtime runs graphs among the attributes.
};

struct Placement {
  RunKind kind = RunKind::kEval;
  int device = 0;
  const ir::KernelDef* kernel = nullptr;  ///< kKernel
  ir::KernelProblem problem = nullptr;    ///< What it found; null in pieces.
  bool in_pieces = false;                 ///< Of kKernel: see CutToPieces.
};

/// What a kernel says of a node: what it found out, or its reason against it.
struct Offer {
  const ir::KernelDef* kernel = nullptr;
  Result<ir::KernelProblem> problem;
};
/// Offers of all kernels for a node, by device.
using NodeOffers = std::map<int, std::vector<Offer>>;

/// A range of an arena that lives over a range of steps.
struct Allocation {
  int device = 0;
  int64_t bytes = 0;
  int first_step = 0;
  int last_step = 0;
  int64_t offset = -1;  ///< Set by memory planning.
};

/// Where an operand's bytes are.
struct Storage {
  enum class Kind : uint8_t {
    kNone,
    kAllocation,
    kInput,
    kOutput,
    kState,
    kStateWrite,  ///< A state after the run; before it too where the state is
                  ///< updated in place.
  };
  Kind kind = Kind::kNone;
  int index = -1;      ///< Of the allocation, graph input, output or state.
  int64_t offset = 0;  ///< Of a value that is a part of it.
  bool operator==(const Storage&) const = default;
};

/// One step of the plan before it has operands.
struct ScheduledStep {
  enum class Kind : uint8_t {
    kNode,    ///< Step `index` of `node`.
    kOutput,  ///< Copy of graph output `index` to the user's memory.
    kState,   ///< Copy of state update `index` to the state.
  };
  Kind kind = Kind::kNode;
  ir::NodeId node = ir::kNone;
  int index = 0;
};

/// Composites that may stay whole for devices' own compilers.
struct WholeComposites {
  bool all_but = false;              ///< All but those of `names`.
  std::set<std::string> names = {};  ///< Of nodes.

  bool none() const { return !all_but && names.empty(); }
  bool Has(const std::string& name) const {
    return names.contains(name) != all_but;
  }
  void Open(const std::string& name) {
    if (all_but) {
      names.insert(name);
    } else {
      names.erase(name);
    }
  }
};

struct Module {
  Module(ir::Graph source, const ir::OpRegistry& operators,
         const CompileOptions& compile_options)
      : graph(std::move(source)),
        registry(operators),
        options(compile_options) {
    for (const ir::ValueId id : graph.outputs()) {
      output_names.push_back(graph.value(id).name);
    }
  }

  /// Streams of one run on a device.
  int Streams(int index) const {
    const ir::DeviceInfo& info = device(index);
    if (index == 0) return 1;
    // Kernels of CPUs use all cores by themselves.
    const int automatic = info.device_class == ir::DeviceClass::kCpu ? 1 : 2;
    const int wanted =
        options.policy.streams == 0 ? automatic : options.policy.streams;
    return std::max(1, std::min(wanted, info.max_streams));
  }
  /// Steps are in queues beside each other: of devices, or of one's streams.
  bool has_queues() const {
    return several_devices() || Streams(primary_device()) > 1;
  }
  int StreamOf(ir::NodeId id) const {
    const auto index = static_cast<size_t>(id);
    return index < streams.size() ? streams[index] : 0;
  }
  bool JoinsBatch(ir::NodeId id) const {
    return std::find(batch_joins.begin(), batch_joins.end(), id) !=
           batch_joins.end();
  }
  /// Devices beside the host share the graph.
  bool several_devices() const { return options.devices.size() > 2; }
  /// The device that must run the node: the user's, else the one that
  /// AssignDevices() found; -1: any.
  int DeviceOf(const ir::Node& node) const {
    if (node.device >= 0) return node.device;
    const auto id = static_cast<size_t>(node.id);
    return id < assigned.size() ? assigned[id] : -1;
  }
  /// \param device -1: none.
  void Assign(ir::NodeId id, int device) {
    if (device < 0) return;
    if (static_cast<size_t>(id) >= assigned.size()) {
      assigned.resize(static_cast<size_t>(id) + 1, -1);
    }
    assigned[static_cast<size_t>(id)] = device;
  }
  /// Index of the device that runs what may run anywhere.
  int primary_device() const { return options.devices.size() > 1 ? 1 : 0; }
  /// Device that keeps a state: the one that reads and makes it most, as
  /// AssignDevices() found, else the primary one.
  int HomeOf(ir::ValueId state) const {
    const auto index = static_cast<size_t>(state);
    return index < homes.size() && homes[index] >= 0 ? homes[index]
                                                     : primary_device();
  }
  const ir::DeviceInfo& device(int index) const {
    return options.devices[index];
  }

  ir::Graph graph;
  const ir::OpRegistry& registry;
  const CompileOptions& options;
  /// As the user knows them; passes may put other values in their place.
  std::vector<std::string> output_names;

  /// Reshapes of the graph that keep declared shapes, see InferShapes.
  std::vector<ir::NodeId> declared_reshapes;

  /// Devices that AssignDevices() found, by node id; -1 and beyond the end: it
  /// found none.
  std::vector<int> assigned;
  /// Devices that keep states, by value id; -1 and beyond the end: none found.
  std::vector<int> homes;
  /// Nodes that join what devices make of a batch.
  std::vector<ir::NodeId> batch_joins;
  /// Bytes that each device may hold; empty: as many as it has.
  std::vector<int64_t> memory_limits;
  /// Divisions that were compared, and the one that was taken.
  std::vector<ir::ComparedPlan> compared;
  std::string chosen_division;
  ir::Partition partition;  ///< After choose.

  /// Offers by node, from fuse to choose.
  std::map<ir::NodeId, NodeOffers> offers;

  std::vector<Placement> placements;  ///< By node id, after choose.
  std::vector<double> costs;          ///< Microseconds by node id; with them.
  std::vector<int> locations;  ///< Device of each value by id, after choose.
  std::vector<ir::Decision> decisions;
  /// By node id, after claim parts: why devices' compilers do not take a node.
  std::map<ir::NodeId, std::vector<std::string>> not_claimed;

  std::vector<ir::Lowering> lowerings;  ///< By node id, after lower.

  std::vector<ScheduledStep> schedule;  ///< After order.
  std::vector<int> streams;             ///< Streams by node id; with it.

  std::vector<Storage> storages;  ///< By value id; constants have none.
  /// By node id: allocations, -1 where the steps that need it are left out.
  std::vector<std::vector<int>> scratches;
  std::vector<Allocation> allocations;
  std::vector<int64_t> arena_bytes;  ///< By device, after plan memory.
  ir::MemoryReport memory;

  /// Composites that may stay whole.
  WholeComposites whole;
  /// Those that did, though no kernel takes them: nodes of the graph from
  /// expand composites to claim parts, by name; operators with operands.
  std::map<std::string, std::string> kept_whole;
  /// The graph is compiled once more: nothing is told of it yet.
  bool is_trial = false;
};

/// Whether output and input of the pair are of one size and on one device, and
/// the input is the result of a node: what the graph alone tells of
/// Lowering::in_place.
bool FitInPlace(const Module& module, const ir::Node& node,
                const ir::InPlacePair& pair);

/// What the kernel makes of the node on a device: ir::Analyze(), unless the
/// options refuse it.
Result<ir::KernelProblem> Analyze(const Module& module,
                                  const ir::KernelDef& kernel,
                                  const ir::KernelNode& node, int device);

/// The view of a node of `graph`, which is the module's or a body in it, that
/// kernels are asked about.
ir::KernelNode ViewOf(const Module& module, const ir::Graph& graph,
                      const ir::Node& node);

/// "operation Conv2d#3 of graph g": the start of a message about a node.
std::string Describe(const ir::Graph& graph, const ir::Node& node);
/// What a node says is legal and hardly meant: `text` names operands, the
/// values found and expected, and the remedy.  A warning where the options are
/// lenient, else a failure.  Nothing where the graph was compiled before.
Status Doubt(const Module& module, const ir::Graph& graph, const ir::Node& node,
             const std::string& text);
/// One line per operand with shape, type and quantization.
std::string DescribeOperands(const ir::Graph& graph, const ir::Node& node);

/// Bytes of a tensor; 0 where they are not known.
int64_t BytesOf(const ir::TensorDesc& desc);

/// The caller has chosen its device.
bool IsPinned(const Module& module, ir::NodeId id);
/// kFailedPrecondition where a tensor that is used has no known extents.
Status CheckStaticShapes(const ir::Graph& graph);
/// Every operand that is present has a known rank.
bool HasRankedOperands(const ir::Graph& graph, const ir::Node& node);
/// Every operand that is present has known extents, in a composite's body too.
bool HasStaticOperands(const ir::Graph& graph, const ir::Node& node);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_MODULE_H_
