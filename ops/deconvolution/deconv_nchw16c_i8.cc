// Transposed convolution of 8-bit codes on tensors in blocks of 16 channels,
// for CPUs: conv2d_nchw16c_i8.cl on its phases.
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/nchw16c.h"
#include "ops/convolution_i8/code_tiles.h"
#include "ops/deconvolution/deconv_node.h"
#include "ops/deconvolution/deconv_phases.h"
#include "ops/launch/device_class.h"

namespace tim::ops {
namespace {

// Bytes of all phases.
constexpr int64_t kMostWeights = int64_t{1} << 28;

struct Problem {
  Conv2dShape deconv;
  Conv2dShape phases;
  CodeEpilogue epilogue;
};

Status CheckWeights(const Conv2dShape& deconv) {
  if (deconv.group.channels != deconv.channels) {
    return Unimplemented("one group only, not ",
                         deconv.channels / deconv.group.channels);
  }
  const double weights = CountPhaseWeights(deconv);
  if (weights > kMostWeights) {
    return Unimplemented("the phases have ", weights, " weights, at most ",
                         kMostWeights, " are packed");
  }
  return OkStatus();
}

Result<Problem> Analyze(const ir::KernelNode& node,
                        const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_ASSIGN_OR_RETURN(const Conv2dShape deconv, TransposedShapeOf(node));
  TIM_RETURN_IF_ERROR(CheckTransposedSizes(node, deconv));
  TIM_ASSIGN_OR_RETURN(const CodeEpilogue epilogue,
                       CheckedCodeEpilogueOf(node, deconv));
  TIM_RETURN_IF_ERROR(CheckWeights(deconv));
  const Conv2dShape phases = PhasesOf(deconv);
  TIM_RETURN_IF_ERROR(CheckSpan(
      CodeTilesOf(phases, ir::Layout::Dense(), node.many_shapes, device)));
  return Problem{deconv, phases, epilogue};
}

double Cost(const Problem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  return CodeTilesCost(node, problem.phases, device);
}

Result<ir::Lowering> Lower(const Problem& problem, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [deconv, phases, epilogue] = problem;
  const OutputPhases output = {.w = deconv.w.stride,
                               .h = deconv.h.stride,
                               .out_w = deconv.w.output,
                               .out_h = deconv.h.output,
                               .out_channels = deconv.group.out_channels};
  const ir::KernelNode phase_node = PhaseNodeOf(node, deconv);
  VariableCodes codes = {.terms = deconv.terms(),
                         .bias_period = phases.group.out_channels /
                                        (deconv.w.stride * deconv.h.stride),
                         .bias_count = deconv.group.out_channels};
  ir::Lowering lowering;
  if (node.constants[1] == nullptr) {
    TIM_ASSIGN_OR_RETURN(codes.scratch,
                         PackPhases(phase_node, deconv, &lowering));
  }
  TIM_RETURN_IF_ERROR(ConvolveCodes(phase_node, phases, output, codes, epilogue,
                                    device, &lowering));
  return lowering;
}

}  // namespace

TIM_OPERATOR(deconv_nchw16c_i8) {
  registry.Add(ir::TypedKernel<Problem>{.op = "tim.DeConv2d",
                                        .name = "deconv_nchw16c_i8",
                                        .takes_epilogue = true,
                                        .analyze = Analyze,
                                        .layouts = LayoutsInBlocks<Problem>,
                                        .cost = Cost,
                                        .lower = Lower});
}

}  // namespace tim::ops
