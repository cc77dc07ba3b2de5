// A kernel of a plug-in on one node, outside of any plan.
#ifndef TIM_TOOLS_TIMCL_KERNEL_RUN_H_
#define TIM_TOOLS_TIMCL_KERNEL_RUN_H_

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "ir/kernel_def.h"
#include "ir/op_registry.h"
#include "tools/timcl/plugin_nodes.h"

namespace tim::tool {

/// A node whose operands have layouts.
struct LaidOutNode {
  ir::KernelNode node;
  std::string layouts;  ///< ", blocked(axis 0, 8) -> dense"; empty: all dense.
};

/// The node with each combination of layouts that the kernel takes.
std::vector<LaidOutNode> LaidOut(const ir::KernelDef& kernel,
                                 const ir::KernelNode& node,
                                 const ir::DeviceInfo& info);

/// The elements of a dense tensor as they lie in the desc's layout; lanes
/// beyond the extent hold the real value 0.
Bytes InLayout(const ir::TensorDesc& desc, const Bytes& dense);
/// The other way.  kInvalidArgument where such a lane holds something else.
Result<Bytes> FromLayout(const ir::TensorDesc& desc, const Bytes& bytes);

/// A kernel's steps for one node, ready on a device, with operands apart in one
/// buffer and guards between them.
class KernelRun {
 public:
  static Result<std::unique_ptr<KernelRun>> Create(
      std::shared_ptr<device::Device> device, const ir::KernelDef& kernel,
      const ir::KernelNode& node, const ir::OpRegistry& operators);

  /// Inputs and results are dense.  kInvalidArgument where the kernel wrote to
  /// inputs or guards, or anything but the real value 0 to lanes beyond an
  /// extent.
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
  std::vector<ir::TensorDesc> input_descs_, output_descs_;
  std::vector<Place> inputs_, outputs_, scratch_, packed_;
  Bytes image_;  // what the buffer holds before a run
  int64_t bytes_ = 0;
  std::unique_ptr<device::Buffer> buffer_, host_;
  std::unique_ptr<device::Stream> stream_;
  std::vector<std::unique_ptr<device::PreparedStep>> steps_;
};

/// Kernels that the plug-in brought, for its own devices or for OpenCL's.
std::vector<const ir::KernelDef*> KernelsFor(const CheckedPlugin& plugin,
                                             const ir::OpRegistry& operators,
                                             bool opencl);

/// Each of its kernels on a node that it takes, made ready and run by eight
/// threads at once.
Status TryKernelsOnThreads(CheckedPlugin& plugin,
                           const std::shared_ptr<device::Device>& device,
                           const ir::OpRegistry& operators);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_KERNEL_RUN_H_
