// Transposed convolution of 8-bit codes on tensors in blocks of 16 channels,
// for CPUs: conv2d_nchw16c_i8.cl on its phases.
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution_i8/code_tiles.h"
#include "ops/deconvolution/deconv_node.h"
#include "ops/deconvolution/deconv_phases.h"
#include "ops/launch/device_class.h"

namespace tim::ops {
namespace {

// Bytes of all phases.
constexpr int64_t kMostWeights = int64_t{1} << 28;

Status CheckSizes(const Conv2dShape& deconv, bool many_shapes,
                  const ir::DeviceInfo& device) {
  if (deconv.group.channels != deconv.channels) {
    return Unimplemented("one group only, not ",
                         deconv.channels / deconv.group.channels);
  }
  const double weights = CountPhaseWeights(deconv);
  if (weights > kMostWeights) {
    return Unimplemented("the phases have ", weights, " weights, at most ",
                         kMostWeights, " are packed");
  }
  return CheckSpan(
      CodeTilesOf(PhasesOf(deconv), ir::Layout::Dense(), many_shapes, device));
}

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_ASSIGN_OR_RETURN(const Conv2dShape deconv, TransposedShapeOf(node));
  TIM_RETURN_IF_ERROR(CheckTransposedSizes(node, deconv));
  TIM_RETURN_IF_ERROR(CheckCodes(node, deconv, Residual::kTaken));
  return CheckSizes(deconv, node.many_shapes, device);
}

std::vector<ir::LayoutTuple> Layouts(const ir::KernelNode& node,
                                     const ir::DeviceInfo&) {
  return {CodeTileLayouts(node)};
}

double Cost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  const Result<Conv2dShape> deconv = TransposedShapeOf(node);
  return deconv.ok() ? CodeTilesCost(node, PhasesOf(*deconv), device) : 0;
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  TIM_ASSIGN_OR_RETURN(const Conv2dShape deconv, TransposedShapeOf(node));
  TIM_ASSIGN_OR_RETURN(const CodeEpilogue epilogue, CodeEpilogueOf(node));
  const OutputPhases phases = {.w = deconv.w.stride,
                               .h = deconv.h.stride,
                               .out_w = deconv.w.output,
                               .out_h = deconv.h.output,
                               .out_channels = deconv.group.out_channels};
  const Conv2dShape convolution = PhasesOf(deconv);
  const ir::KernelNode phase_node = PhaseNodeOf(node, deconv);
  VariableCodes codes = {.terms = deconv.terms(),
                         .bias_period = convolution.group.out_channels /
                                        (deconv.w.stride * deconv.h.stride),
                         .bias_count = deconv.group.out_channels};
  ir::Lowering lowering;
  if (node.constants[1] == nullptr) {
    TIM_ASSIGN_OR_RETURN(codes.scratch,
                         PackPhases(phase_node, deconv, &lowering));
  }
  TIM_RETURN_IF_ERROR(ConvolveCodes(phase_node, convolution, phases, codes,
                                    epilogue, device, &lowering));
  return lowering;
}

}  // namespace

TIM_OPERATOR(deconv_nchw16c_i8) {
  registry.Add(ir::PlainKernel{.op = "tim.DeConv2d",
                               .name = "deconv_nchw16c_i8",
                               .takes_epilogue = true,
                               .analyze = Supports,
                               .layouts = Layouts,
                               .cost = Cost,
                               .lower = Lower});
}

}  // namespace tim::ops
