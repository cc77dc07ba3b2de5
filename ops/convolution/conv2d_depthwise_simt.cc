// Depthwise float32 convolution for GPUs, dense tensors.
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/conv_sizes.h"
#include "ops/convolution/simt_convolution.h"
#include "ops/elements/product_sum.h"
#include "ops/launch/device_class.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/prices.h"

namespace tim::ops {
namespace {

Result<ConvProblem> Analyze(const ir::KernelNode& node,
                            const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckNoCpu(device));
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, ConvShapeOf(node));
  TIM_RETURN_IF_ERROR(CheckDepthwiseStrip(shape));
  TIM_RETURN_IF_ERROR(CheckKernelSizes(node, shape));
  TIM_RETURN_IF_ERROR(CheckElementCount(node.anchor_output));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue,
                       EpilogueOf(node, kConvChannelAxis, Residual::kTaken));
  return ConvProblem{shape, epilogue};
}

double Cost(const ConvProblem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  return SumCost(node, problem.shape.terms(), device,
                 prices::kConv2dDepthwiseSimt);
}

Result<ir::Lowering> Lower(const ConvProblem& problem,
                           const ir::KernelNode& node, const ir::DeviceInfo&) {
  const auto& [shape, epilogue] = problem;
  Launch launch("ops/convolution/conv2d_depthwise_simt.cl",
                "conv2d_depthwise_simt");
  AddDepthwiseStrip(shape, &launch);
  launch.Input("input", node, 0).Input("weights", node, 1);
  AddEpilogue(node, BiasOf(node), epilogue, &launch);
  launch.Struct("sizes", ConvSizes(shape));
  return launch.Build();
}

}  // namespace

TIM_OPERATOR(conv2d_depthwise_simt) {
  registry.Add(ir::TypedKernel<ConvProblem>{.op = "tim.Conv2d",
                                            .name = "conv2d_depthwise_simt",
                                            .takes_epilogue = true,
                                            .analyze = Analyze,
                                            .cost = Cost,
                                            .lower = Lower});
}

}  // namespace tim::ops
