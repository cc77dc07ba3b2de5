// Float32 convolution for GPUs, dense tensors and any number of groups.
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/conv_sizes.h"
#include "ops/convolution/simt_convolution.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/simt_tile.h"

namespace tim::ops {
namespace {

Result<ConvProblem> Analyze(const ir::KernelNode& node,
                            const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckSimt(device));
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, ConvShapeOf(node));
  TIM_RETURN_IF_ERROR(CheckKernelSizes(node, shape));
  TIM_RETURN_IF_ERROR(CheckElementCount(node.anchor_output));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue,
                       EpilogueOf(node, kConvChannelAxis, Residual::kTaken));
  return ConvProblem{shape, epilogue};
}

double Cost(const ConvProblem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  const ir::ComputeEstimate estimate = SumEstimate(AnchorView(node).view(), 0);
  return SimtCost(SimtProductOf(problem.shape, 1),
                  estimate.bytes_read + estimate.bytes_written, device);
}

Result<ir::Lowering> Lower(const ConvProblem& problem,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [shape, epilogue] = problem;
  Launch launch("ops/convolution/conv2d_simt.cl", "conv2d_simt");
  AddSimtTile(SimtProductOf(shape, 1), device, &launch);
  launch.Input("input", node, 0)
      .Input("weights", node, 1)
      .Packed("taps", SimtTaps(shape, 1), 16);
  AddEpilogue(node, BiasOf(node), epilogue, &launch);
  launch.Struct("sizes", ConvSizes(shape)).Int("terms", shape.terms());
  return launch.Build();
}

}  // namespace

TIM_OPERATOR(conv2d_simt) {
  registry.Add(ir::TypedKernel<ConvProblem>{.op = "tim.Conv2d",
                                            .name = "conv2d_simt",
                                            .takes_epilogue = true,
                                            .analyze = Analyze,
                                            .cost = Cost,
                                            .lower = Lower});
}

}  // namespace tim::ops
