// Nodes on which kernels of plug-ins are tried.
#ifndef TIM_TOOLS_TIMCL_PLUGIN_NODES_H_
#define TIM_TOOLS_TIMCL_PLUGIN_NODES_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "ir/graph.h"
#include "ir/kernel_def.h"
#include "ir/op_registry.h"
#include "tools/timcl/plugin_checks.h"

namespace tim::tool {

/// A graph of one node, with types and shapes.
struct NodeCase {
  std::string name;  ///< "tim.Conv2d float32 [33, 31, 5, 2]"
  ir::Graph graph;
  ir::NodeId node = ir::kNone;
};

/// Nodes of the operator in many shapes and types that it takes; perhaps none.
std::vector<NodeCase> NodeCases(CheckedPlugin& plugin,
                                const ir::OpRegistry& operators,
                                const std::string& op);

using Bytes = std::vector<std::byte>;

/// Content for the graph's inputs.
std::vector<Bytes> RandomInputs(CheckedPlugin& plugin, const ir::Graph& graph);
/// Results of the library's references.
Result<std::vector<Bytes>> Evaluated(const ir::Graph& graph,
                                     const std::vector<Bytes>& inputs);
/// Integers bit for bit, floats within a tolerance: kInvalidArgument says which
/// element differs.
Status Compare(const ir::TensorDesc& desc, const Bytes& actual,
               const Bytes& expected);

/// A kernel's steps for one node, ready on a device, with operands apart in one
/// buffer and guards between them.  Everything is dense.
class KernelRun {
 public:
  static Result<std::unique_ptr<KernelRun>> Create(
      std::shared_ptr<device::Device> device, const ir::KernelDef& kernel,
      const ir::KernelNode& node, const ir::OpRegistry& operators);

  /// kInvalidArgument where the kernel wrote to inputs or guards.
  Result<std::vector<Bytes>> Run(const std::vector<Bytes>& inputs);

 private:
  struct Place {
    int64_t offset = 0;
    int64_t bytes = 0;
  };
  KernelRun() = default;
  Status Lay(const ir::KernelNode& node);
  Place Add(int64_t bytes);
  Place PlaceOf(const ir::LoweredOperand& operand) const;
  Status Copy(bool to_device);

  std::shared_ptr<device::Device> device_;
  ir::Lowering lowering_;
  std::vector<Place> inputs_, outputs_, scratch_, packed_;
  Bytes image_;  // what the buffer holds before a run
  int64_t bytes_ = 0;
  std::unique_ptr<device::Buffer> buffer_, host_;
  std::unique_ptr<device::Stream> stream_;
  std::vector<std::unique_ptr<device::PreparedStep>> steps_;
};

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_PLUGIN_NODES_H_
