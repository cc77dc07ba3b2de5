// Runs one operator through eval and through its OpenCL kernels.
//
// A test makes a TestNode (one operator with its values, inferred and checked),
// random inputs, and compares every kernel in every layout with eval:
//   const auto node = MakeNode("tim.Relu", {}, {desc}, {desc});
//   EXPECT_OK(CheckKernels(*node, rng));
#ifndef TIM_TESTS_SUPPORT_KERNELS_KERNEL_RUNNER_H_
#define TIM_TESTS_SUPPORT_KERNELS_KERNEL_RUNNER_H_

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/device_info.h"
#include "ir/graph.h"
#include "ir/kernel_def.h"
#include "ir/step.h"
#include "ir/tensor_desc.h"
#include "ops/builtin.h"
#include "tests/support/data/test_tensor.h"
#include "tests/support/kernels/test_launcher.h"

namespace tim::testing {

/// A graph of one node (or fused composite), attributes completed, inferred
/// and checked.  Its inputs are the operands that are neither absent nor
/// constant, in order; its outputs are the node's.
struct TestNode {
  ir::Graph graph;
  ir::NodeId node = ir::kNone;
  /// Of the operator and its kernels.
  const ir::OpRegistry* registry = &ops::BuiltinOperators();

  const ir::TensorDesc& input(int index) const {
    return graph.value(graph.node(node).inputs[index]).desc;
  }
  const ir::TensorDesc& output(int index = 0) const {
    return graph.value(graph.node(node).outputs[index]).desc;
  }
};

/// `op`: "tim.Conv2d".  `inputs`: nullopt = absent; the shapes may have unknown
/// extents or unknown rank.  `outputs`: declared type (may be unknown),
/// quantization and shape (unknown rank: to infer; else it is the declared
/// shape, which must have as many elements as the inferred one).  `constants`:
/// data of constant inputs, by operand.  Fails as Compile would: arity,
/// attributes, infer_shapes, check.
Result<TestNode> MakeNode(
    const std::string& op, ir::AttributeMap attributes,
    const std::vector<std::optional<ir::TensorDesc>>& inputs,
    const std::vector<ir::TensorDesc>& outputs,
    std::map<int, TensorData> constants = {},
    const ir::OpRegistry& registry = ops::BuiltinOperators());

/// Makes or extends a fused composite: `op` is applied to output 0 of `anchor`
/// (a plain node, or what Fuse returned).  Its operand 0 is that output,
/// `others` follow; `constants` by index in `others`.  `output` as in MakeNode.
Result<TestNode> Fuse(TestNode anchor, const std::string& op,
                      ir::AttributeMap attributes,
                      const std::vector<ir::TensorDesc>& others,
                      const ir::TensorDesc& output,
                      std::map<int, TensorData> constants = {});

/// One random tensor for each graph input.
std::vector<TensorData> RandomInputs(const TestNode& node, std::mt19937& rng);

/// Runs eval (a composite's body).  `inputs`: one per graph input.  One result
/// per output; absent outputs are empty.
Result<std::vector<TensorData>> Eval(const TestNode& node,
                                     const std::vector<TensorData>& inputs);

/// The same device as one whose kernels are those of `device_class`.
ir::DeviceInfo TestDevice(ir::DeviceClass device_class);

/// The same device as one whose vectors have `lanes` floats.
ir::DeviceInfo TestDeviceOfLanes(int lanes);

/// Names of the registered OpenCL kernels that accept the node.
std::vector<std::string> SupportedKernels(const TestNode& node);
/// "kernel: reason" for each of the others, one per line.
std::string Refusals(const TestNode& node);
/// Ok, or why kernel `kernel` refuses the node; kNotFound if there is none.
Status Supports(const TestNode& node, const std::string& kernel,
                const ir::DeviceInfo& device = TestDevice());
/// Layout tuples that the kernel offers for the node.
int LayoutCount(const TestNode& node, const std::string& kernel);

/// The steps of a kernel, lowered for `device`; fails where one is no launch.
Result<std::vector<ir::KernelLaunch>> LaunchesOf(const TestNode& node,
                                                 const std::string& kernel,
                                                 const ir::DeviceInfo& device);

/// The steps of every kernel that takes the node for `device`, in every layout.
/// No device is asked.
Result<std::vector<ir::LoweredStep>> StepsFor(const TestNode& node,
                                              const ir::DeviceInfo& device);

/// Lowers and runs a kernel on the first OpenCL device.  Blocked operands are
/// converted on the host (tail lanes of inputs hold the real value 0).  Outputs
/// are poisoned first and every operand lies between guards.  Fails where the
/// kernel writes outside of its outputs or leaves a tail lane that is not the
/// real value 0.  Returns dense outputs.  The kernel is lowered
/// for `device`, which need not be the one that runs it.
Result<std::vector<TensorData>> RunKernel(
    const TestNode& node, const std::string& kernel, int layout_index,
    const std::vector<TensorData>& inputs,
    const ir::DeviceInfo& device = TestDevice());

struct KernelRun {
  ir::DeviceInfo device = TestDevice();  ///< Lowered for it.
  std::byte guard = kGuardByte;          ///< Around every operand.
  /// The output lies in the input's memory: one of InPlacePairs.
  std::optional<ir::InPlacePair> in_place = std::nullopt;
};
Result<std::vector<TensorData>> RunKernel(const TestNode& node,
                                          const std::string& kernel,
                                          int layout_index,
                                          const std::vector<TensorData>& inputs,
                                          const KernelRun& run);

/// Where the lowering lets an output lie in the memory of a variable input of
/// as many bytes.
Result<std::vector<ir::InPlacePair>> InPlacePairs(const TestNode& node,
                                                  const std::string& kernel,
                                                  int layout_index);

/// Every kernel that supports the node, in every layout, against Eval, twice
/// with new random inputs.  Fails where no kernel supports it (with the
/// refusals), or naming kernel, layout and first difference.
Status CheckKernels(const TestNode& node, std::mt19937& rng,
                    Tolerance tolerance = {});
/// The same with given inputs, once.
Status CheckKernels(const TestNode& node, const std::vector<TensorData>& inputs,
                    Tolerance tolerance = {});

/// Compiles the graph for the first OpenCL device, strictly, and runs it: for
/// operators that consist of others.  One result per output.
/// \param piece_elements see compiler::CompileOptions.
Result<std::vector<TensorData>> RunCompiled(
    const TestNode& node, const std::vector<TensorData>& inputs,
    int64_t piece_elements = ir::kMostKernelElements);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_KERNELS_KERNEL_RUNNER_H_
