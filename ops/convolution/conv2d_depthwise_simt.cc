// Depthwise float32 convolution for GPUs, dense tensors.
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/simt_convolution.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/launch/device_class.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"

namespace tim::ops {
namespace {

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckNoCpu(device));
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, Conv2dShapeOf(node));
  TIM_RETURN_IF_ERROR(CheckDepthwiseStrip(shape));
  TIM_RETURN_IF_ERROR(CheckKernelSizes(node, shape));
  TIM_RETURN_IF_ERROR(CheckElementCount(node.anchor_output));
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
  Launch launch("ops/convolution/conv2d_depthwise_simt.cl",
                "conv2d_depthwise_simt");
  AddDepthwiseStrip(shape, &launch);
  launch.Input("input", node, 0).Input("weights", node, 1);
  AddEpilogue(node, BiasOf(node), epilogue, &launch);
  AddDepthwiseSizes(shape, &launch);
  return launch.Build();
}

}  // namespace

TIM_OPERATOR(conv2d_depthwise_simt) {
  registry.Add(ir::PlainKernel{.op = "tim.Conv2d",
                               .name = "conv2d_depthwise_simt",
                               .takes_epilogue = true,
                               .analyze = Supports,
                               .cost = Cost,
                               .lower = Lower});
}

}  // namespace tim::ops
