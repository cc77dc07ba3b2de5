// Depthwise float32 convolution, and that of narrow groups, on tensors in
// blocks of 16 channels.
#include <utility>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/conv_sizes.h"
#include "ops/convolution/nchw16c.h"
#include "ops/elements/product_sum.h"
#include "ops/launch/blocked.h"
#include "ops/launch/device_class.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/prices.h"

namespace tim::ops {
namespace {

Result<ConvProblem> Analyze(const ir::KernelNode& node,
                            const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  return BlockedNarrowGroupsOf(node);
}

double Cost(const ConvProblem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  return SumCost(node, problem.shape.terms(), device,
                 prices::kConv2dDepthwiseNchw16c) +
         TapsPackingCost(node, 1, problem.shape, device);
}

Result<ir::Lowering> Lower(const ConvProblem& problem,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [shape, epilogue] = problem;
  const int64_t width = DepthwiseTileWidth(shape.w, node.many_shapes, device);
  const int64_t blocks = CeilDiv(shape.channels, kChannelBlock);
  ir::Lowering lowering;
  TIM_ASSIGN_OR_RETURN(PackedOperand weights,
                       PackTaps(node, 1, shape, &lowering));
  Launch launch("ops/convolution/conv2d_depthwise_nchw16c.cl",
                "conv2d_depthwise_nchw16c");
  launch.Option(StrCat("-DTW=", width))
      .Option(StrCat("-DKERNEL_W=", shape.w.kernel))
      .Option(StrCat("-DSTRIDE=", shape.w.stride))
      .Option(StrCat("-DDILATION=", shape.w.dilation))
      .Option(StrCat("-DSPAN=", SpanOf(shape.w, width)))
      .Option(StrCat("-DGROUP_CHANNELS=", shape.group.channels))
      .Input("input", node, 0);
  AddPacked("weights", std::move(weights), sizeof(float), &launch);
  AddEpilogue(node, BiasOf(node), epilogue, &launch);
  launch.Struct("sizes", ConvSizes(shape))
      .Int("blocks", blocks)
      .Global(shape.h.output, 1, blocks * shape.batch)
      .Local(1)
      .PartitionSpatially();
  TIM_RETURN_IF_ERROR(launch.AppendTo(&lowering));
  return lowering;
}

}  // namespace

TIM_OPERATOR(conv2d_depthwise_nchw16c) {
  registry.Add(
      ir::TypedKernel<ConvProblem>{.op = "tim.Conv2d",
                                   .name = "conv2d_depthwise_nchw16c",
                                   .takes_epilogue = true,
                                   .analyze = Analyze,
                                   .layouts = LayoutsInBlocks<ConvProblem>,
                                   .cost = Cost,
                                   .lower = Lower});
}

}  // namespace tim::ops
