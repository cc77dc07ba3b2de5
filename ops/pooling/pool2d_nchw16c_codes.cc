// Pool2d of 8-bit codes in blocks of 16 channels: MAX and all kinds of AVG.
#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/elements/operands.h"
#include "ops/launch/blocked.h"
#include "ops/launch/device_class.h"
#include "ops/launch/launch.h"
#include "ops/pooling/pool2d_node.h"

namespace tim::ops {
namespace {

constexpr int64_t kTile = 8;  // Neighbours that one work-item makes.

Status CheckCodes(const ir::TensorDesc& desc) {
  TIM_RETURN_IF_ERROR(CheckPoolCodes(desc));
  if (FitsChannelBlocks(desc)) return OkStatus();
  return Unimplemented(desc.ToString(), " does not fit blocks of channels");
}

Result<PoolProblem> Analyze(const ir::KernelNode& node,
                            const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  TIM_RETURN_IF_ERROR(CheckCodes(node.inputs[0]));
  TIM_RETURN_IF_ERROR(CheckCodes(node.outputs[0]));
  TIM_ASSIGN_OR_RETURN(const PoolProblem problem, PoolProblemOf(node));
  TIM_RETURN_IF_ERROR(CheckNoL2(problem));
  TIM_RETURN_IF_ERROR(CheckCodeSums(problem.shape));
  TIM_RETURN_IF_ERROR(CheckPool2dSizes(problem.shape));
  return problem;
}

Result<ir::Lowering> Lower(const PoolProblem& problem,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  PoolShape shape = problem.shape;
  shape.planes = BlockPlanes(problem, node);
  Launch launch("ops/pooling/pool2d_nchw16c_codes.cl", "pool2d_nchw16c_codes");
  launch.Type("IN", node.inputs[0]).Type("OUT", node.outputs[0]);
  AddPoolOptions(node, problem, &launch);
  launch.Input("in", node, 0).Output("out", node, 0);
  AddColumnOptions(shape, kTile, &launch);
  launch.Struct("sizes", PoolSizes(shape));
  const int64_t tiles = CeilDiv(shape.w.output, kTile) * shape.h.output;
  // Single pixels, which have no neighbours to share.
  const int64_t group = tiles == 1 ? shape.planes : 1;
  launch.Int("group", group).Int("channels", node.inputs[0].shape[2]);
  AddPoolResult(node, problem, &launch);
  launch.Int("lowest", ir::Info(node.outputs[0].type).min);
  return launch.Tiles(device, tiles * group, 1, shape.planes / group)
      .PartitionSpatially(group == 1)
      .Build();
}

ir::KernelDef Pool2dKernel() {
  return ir::TypedKernel<PoolProblem>{
      .op = "tim.Pool2d",
      .name = "pool2d_nchw16c_codes",
      .analyze = Analyze,
      .layouts = BlockedPoolLayouts,
      .cost = CostAt(prices::kPool2dNchw16cCodes),
      .lower = Lower};
}

}  // namespace

TIM_OPERATOR(pool2d_nchw16c_codes) { registry.Add(Pool2dKernel()); }

}  // namespace tim::ops
