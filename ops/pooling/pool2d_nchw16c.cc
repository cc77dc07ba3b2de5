// Pool2d of float32 in blocks of 16 channels: MAX and all kinds of AVG.
#include <limits>

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

Result<PoolProblem> Analyze(const ir::KernelNode& node,
                            const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  for (const ir::TensorDesc* desc : {&node.inputs[0], &node.outputs[0]}) {
    if (desc->type != ir::DataType::kFloat32) {
      return Unimplemented(ir::ToString(desc->type), ", takes float32 only");
    }
  }
  TIM_ASSIGN_OR_RETURN(const PoolProblem problem, PoolProblemOf(node));
  TIM_RETURN_IF_ERROR(CheckNoL2(problem));
  for (ir::TensorDesc desc : {node.inputs[0], node.outputs[0]}) {
    desc.layout = ChannelBlocks();
    const auto elements = ir::PhysicalElements(desc);
    if (!elements.ok() || *elements > std::numeric_limits<int32_t>::max()) {
      return Unimplemented("more elements than 32 bits count");
    }
  }
  TIM_RETURN_IF_ERROR(CheckPool2dSizes(problem.shape));
  return problem;
}

Result<ir::Lowering> Lower(const PoolProblem& problem,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  PoolShape shape = problem.shape;
  shape.planes = BlockPlanes(problem, node);
  const auto window = static_cast<float>(shape.w.kernel * shape.h.kernel);
  Launch launch("ops/pooling/pool2d_nchw16c.cl", "pool2d_nchw16c");
  launch.Option(StrCat("-DPOOL=", static_cast<int>(problem.type)))
      .Input("in", node, 0)
      .Output("out", node, 0);
  if (problem.type == PoolType::kMax) AddColumnOptions(shape, kTile, &launch);
  launch.Struct("sizes", PoolSizes(shape))
      .Int("channels", node.inputs[0].shape[2])
      .Float("inverse_window", 1.0f / window)
      .Float("lowest", PoolLowest(ir::DataType::kFloat32));
  return launch
      .Tiles(device, CeilDiv(shape.w.output, kTile) * shape.h.output, 1,
             shape.planes)
      .PartitionSpatially()
      .Build();
}

ir::KernelDef Pool2dKernel() {
  return ir::TypedKernel<PoolProblem>{.op = "tim.Pool2d",
                                      .name = "pool2d_nchw16c",
                                      .analyze = Analyze,
                                      .layouts = BlockedPoolLayouts,
                                      .cost = CostAt(prices::kPool2dNchw16c),
                                      .lower = Lower};
}

}  // namespace

TIM_OPERATOR(pool2d_nchw16c) { registry.Add(Pool2dKernel()); }

}  // namespace tim::ops
