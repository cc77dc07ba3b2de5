// Pool2d of dense float32 and 8-bit codes for CPUs, a row of the output at a
// time: MAX and all kinds of AVG.
#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/elements/shapes.h"
#include "ops/launch/device_class.h"
#include "ops/launch/launch.h"
#include "ops/launch/pieces.h"
#include "ops/launch/prices.h"
#include "ops/pooling/pool2d_node.h"

namespace tim::ops {
namespace {

constexpr int64_t kSegment = 256;  // Neighbours of a row for a work-item.
constexpr int64_t kVector = 16;
// Options of the kernel have at most these values.
constexpr int64_t kMostColumns = 16;
constexpr int64_t kMostStride = 16;

bool IsFloat32(const ir::TensorDesc& desc) {
  return desc.type == ir::DataType::kFloat32;
}

// Whether windows are planes, the form of pool2d_planes.
bool PoolsPlanes(const PoolProblem& problem) {
  const auto& [w, h, planes] = problem.shape;
  const auto is_whole = [](const PoolAxis& axis) {
    return axis.kernel == axis.input && axis.output == 1 && axis.pad == 0;
  };
  return problem.type != PoolType::kMax && is_whole(w) && is_whole(h) &&
         planes >= kVector && w.input * h.input >= kVector;
}

Result<PoolProblem> Analyze(const ir::KernelNode& node,
                            const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  if (!IsFloat32(node.inputs[0]) || !IsFloat32(node.outputs[0])) {
    TIM_RETURN_IF_ERROR(CheckPoolCodes(node.inputs[0]));
    TIM_RETURN_IF_ERROR(CheckPoolCodes(node.outputs[0]));
  }
  TIM_ASSIGN_OR_RETURN(const PoolProblem problem, PoolProblemOf(node));
  TIM_RETURN_IF_ERROR(CheckNoL2(problem));
  const PoolShape& shape = problem.shape;
  if (shape.w.kernel > kMostColumns || shape.w.stride > kMostStride) {
    return Unimplemented("windows ", shape.w.kernel, " wide by steps of ",
                         shape.w.stride, ", takes at most ", kMostColumns,
                         " and ", kMostStride);
  }
  TIM_RETURN_IF_ERROR(CheckCodeSums(shape));
  TIM_RETURN_IF_ERROR(CheckPool2dSizes(shape));
  return problem;
}

double Cost(const PoolProblem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  ir::ComputeEstimate estimate = Pool2dEstimate(AnchorView(node).view());
  // Short rows leave lanes idle.
  const int64_t width = problem.shape.w.output;
  if (!PoolsPlanes(problem)) {
    estimate.flops *= static_cast<double>(AlignUp(width, kVector)) /
                      static_cast<double>(width);
  }
  return EstimateMicroseconds(estimate, device,
                              IsFloat32(node.inputs[0])
                                  ? prices::kPool2dRows
                                  : prices::kPool2dRowsCodes);
}

Result<ir::Lowering> Lower(const PoolProblem& problem,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const PoolShape& shape = problem.shape;
  const ir::DataType output = node.outputs[0].type;
  const bool planes = PoolsPlanes(problem);
  Launch launch("ops/pooling/pool2d_rows.cl",
                planes ? "pool2d_planes" : "pool2d_rows");
  launch.Type("IN", node.inputs[0]).Type("OUT", node.outputs[0]);
  AddPoolOptions(node, problem, &launch);
  launch.Option(StrCat("-DKERNEL_W=", shape.w.kernel))
      .Option(StrCat("-DSTRIDE_W=", planes ? 1 : shape.w.stride))
      .Input("in", node, 0)
      .Output("out", node, 0);
  launch.Struct("sizes", PoolSizes(shape));
  AddPoolResult(node, problem, &launch);
  launch.Float("lowest", ir::IsFloat(output)
                             ? PoolLowest(output)
                             : static_cast<float>(ir::Info(output).min));
  if (planes) {
    return launch.Tiles(device, CeilDiv(shape.planes, kVector)).Build();
  }
  const int64_t group = PiecesOf({.length = shape.w.output,
                                  .rows = shape.h.output,
                                  .planes = shape.planes},
                                 device)
                            .group;
  const int64_t segments = CeilDiv(shape.w.output, kSegment);
  return launch.Int("group", group)
      .Tiles(device, segments * CeilDiv(shape.h.output, group) * shape.planes)
      .Build();
}

ir::KernelDef Pool2dKernel() {
  return ir::TypedKernel<PoolProblem>{.op = "tim.Pool2d",
                                      .name = "pool2d_rows",
                                      .analyze = Analyze,
                                      .cost = Cost,
                                      .lower = Lower};
}

}  // namespace

TIM_OPERATOR(pool2d_rows) { registry.Add(Pool2dKernel()); }

}  // namespace tim::ops
