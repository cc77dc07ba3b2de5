// Depthwise float32 convolution for GPUs, dense tensors.
#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/launch/device_class.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"

namespace tim::ops {
namespace {

// Registers of one work-item for the rows that its strip spans.
constexpr int64_t kMaxSpan = 32;

int64_t SpanOf(const ConvAxis& axis, int64_t strip) {
  return (strip - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
}

// Output rows of one work-item.
int64_t StripOf(const ConvAxis& axis) {
  return axis.output >= 4 && SpanOf(axis, 4) <= kMaxSpan ? 4 : 1;
}

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckNoCpu(device));
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, Conv2dShapeOf(node));
  if (shape.group.channels != 1) {
    return Unimplemented("a group must have one input channel, not ",
                         shape.group.channels);
  }
  TIM_RETURN_IF_ERROR(CheckKernelSizes(node, shape));
  TIM_RETURN_IF_ERROR(CheckElementCount(node.anchor_output));
  const int64_t span = SpanOf(shape.h, StripOf(shape.h));
  if (span > kMaxSpan) {
    return Unimplemented("a pixel spans ", span, " input rows, at most ",
                         kMaxSpan, " are kept");
  }
  return EpilogueOf(node, kConvChannelAxis, Residual::kTaken).status();
}

double Cost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  const Result<Conv2dShape> shape = Conv2dShapeOf(node);
  if (!shape.ok()) return 0;
  return ir::EstimateMicroseconds(
      SumEstimate(AnchorView(node).view(), static_cast<double>(shape->terms())),
      device, 0.2);
}

Result<ir::Lowering> Lower(const ir::KernelNode& node, const ir::DeviceInfo&) {
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, Conv2dShapeOf(node));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue,
                       EpilogueOf(node, kConvChannelAxis, Residual::kTaken));
  const int64_t strip = StripOf(shape.h);
  Launch launch("ops/convolution/conv2d_depthwise_simt.cl",
                "conv2d_depthwise_simt");
  launch.Option(StrCat("-DSTRIP=", strip))
      .Option(StrCat("-DKERNEL_H=", shape.h.kernel))
      .Option(StrCat("-DSTRIDE_H=", shape.h.stride))
      .Option(StrCat("-DDILATION_H=", shape.h.dilation))
      .Input("input", node, 0)
      .Input("weights", node, 1);
  AddEpilogue(node, BiasOf(node), epilogue, &launch);
  return launch.Int("in_w", shape.w.input)
      .Int("in_h", shape.h.input)
      .Int("kernel_w", shape.w.kernel)
      .Int("out_w", shape.w.output)
      .Int("out_h", shape.h.output)
      .Int("channels", shape.group.out_channels)
      .Int("multiplier", shape.group.outputs)
      .Int("batch", shape.batch)
      .Int("stride_w", shape.w.stride)
      .Int("dilation_w", shape.w.dilation)
      .Int("pad_left", shape.w.pad)
      .Int("pad_top", shape.h.pad)
      .Items(shape.w.output * CeilDiv(shape.h.output, strip) *
             shape.group.out_channels * shape.batch)
      .Build();
}

}  // namespace

TIM_OPERATOR(conv2d_depthwise_simt) {
  registry.Add(ir::KernelDef{.op = "tim.Conv2d",
                             .name = "conv2d_depthwise_simt",
                             .supports = Supports,
                             .cost = Cost,
                             .lower = Lower});
}

}  // namespace tim::ops
