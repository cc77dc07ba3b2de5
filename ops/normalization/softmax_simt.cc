// Softmax for GPUs, of every type that kernels take.
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/elements/operands.h"
#include "ops/launch/device_class.h"
#include "ops/launch/launch.h"
#include "ops/normalization/softmax_node.h"

namespace tim::ops {
namespace {

// Of softmax_simt.cl.
constexpr int64_t kGroup = 64;
// Shorter rows leave too many items of a group idle.
constexpr int64_t kGroupRow = 32;

Result<SoftmaxProblem> Analyze(const ir::KernelNode& node,
                               const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckNoCpu(device));
  TIM_RETURN_IF_ERROR(CheckWorkGroup(device, {kGroup}));
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  return SoftmaxProblemOf(node.attributes(), node.inputs[0].shape);
}

Result<ir::Lowering> Lower(const SoftmaxProblem& shape,
                           const ir::KernelNode& node, const ir::DeviceInfo&) {
  const bool group = shape.inner == 1 && shape.count >= kGroupRow;
  const int64_t rows = shape.inner * shape.outer;
  Launch launch("ops/normalization/softmax_simt.cl",
                group ? "softmax_group" : "softmax_items");
  launch.Type("IN", node.inputs[0])
      .Type("OUT", node.outputs[0])
      .Input("in", node, 0)
      .Output("out", node, 0)
      .Int("count", shape.count);
  if (!group) launch.Int("inner", shape.inner).Int("rows", rows);
  launch.Float("k", shape.k)
      .InputQuantization("in", node.inputs[0])
      .OutputQuantization("out", node.outputs[0]);
  if (!group) return launch.Items(rows).Build();
  return launch.Global(rows * kGroup).Local(kGroup).Build();
}

}  // namespace

TIM_OPERATOR(softmax_simt) {
  registry.Add(
      ir::TypedKernel<SoftmaxProblem>{.op = "tim.Softmax",
                                      .name = "softmax_simt",
                                      .analyze = Analyze,
                                      .cost = CostAt(prices::kSoftmaxSimt),
                                      .lower = Lower});
}

}  // namespace tim::ops
