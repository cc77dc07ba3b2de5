// Depthwise float32 convolution, and that of narrow groups, on tensors in
// blocks of 16 channels.
#include <utility>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/nchw16c.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"
#include "ops/launch/device_class.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"

namespace tim::ops {
namespace {

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  return BlockedNarrowGroupsOf(node).status();
}

std::vector<ir::LayoutTuple> Layouts(const ir::KernelNode& node,
                                     const ir::DeviceInfo&) {
  ir::LayoutTuple blocked = ir::DenseLayouts(node);
  for (size_t i = 0; i < blocked.inputs.size(); ++i) {
    if (!node.present[i]) blocked.inputs[i] = ir::Layout::Any();
  }
  blocked.inputs[0] = blocked.outputs[0] = ChannelBlocks();
  return {blocked};
}

double Cost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  const Result<Conv2dShape> shape = Conv2dShapeOf(node);
  if (!shape.ok()) return 0;
  return ir::EstimateMicroseconds(
             SumEstimate(AnchorView(node).view(),
                         static_cast<double>(shape->terms())),
             device, 0.3) +
         TapsPackingCost(node, 1, *shape, device);
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, Conv2dShapeOf(node));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue,
                       EpilogueOf(node, kConvChannelAxis, Residual::kRefused,
                                  ByChannel::kTaken));
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
  launch.Int("in_w", shape.w.input)
      .Int("in_h", shape.h.input)
      .Int("kernel_h", shape.h.kernel)
      .Int("out_w", shape.w.output)
      .Int("out_h", shape.h.output)
      .Int("channels", shape.channels)
      .Int("blocks", blocks)
      .Int("batch", shape.batch)
      .Int("stride_h", shape.h.stride)
      .Int("dilation_h", shape.h.dilation)
      .Int("pad_left", shape.w.pad)
      .Int("pad_top", shape.h.pad)
      .Global(shape.h.output, 1, blocks * shape.batch)
      .Local(1)
      .PartitionSpatially();
  TIM_RETURN_IF_ERROR(launch.AppendTo(&lowering));
  return lowering;
}

}  // namespace

TIM_OPERATOR(conv2d_depthwise_nchw16c) {
  registry.Add(ir::PlainKernel{.op = "tim.Conv2d",
                               .name = "conv2d_depthwise_nchw16c",
                               .takes_epilogue = true,
                               .analyze = Supports,
                               .layouts = Layouts,
                               .cost = Cost,
                               .lower = Lower});
}

}  // namespace tim::ops
