// Direct convolution of 8-bit codes on tensors in blocks of 16 channels, of any
// groups, for CPUs: as conv2d_nchw16c, with sums of four products at once.
#include <optional>

#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/nchw16c.h"
#include "ops/convolution_i8/code_tiles.h"
#include "ops/elements/byte_sum.h"
#include "ops/launch/device_class.h"

namespace tim::ops {
namespace {

// A dense input of fewer channels is read without blocks.
constexpr int64_t kFewChannels = 16;

struct Problem {
  Conv2dShape shape;      // Flat.
  CodeEpilogue epilogue;  // None of totals.
};

Result<Problem> Analyze(const ir::KernelNode& node,
                        const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, ConvShapeOf(node));
  TIM_RETURN_IF_ERROR(CheckKernelSizes(node, shape));
  Problem problem = {.shape = Flatten(shape), .epilogue = {}};
  if (IsTotal(node)) {
    TIM_RETURN_IF_ERROR(CheckTotals(node, shape));
  } else {
    TIM_ASSIGN_OR_RETURN(problem.epilogue, CheckedCodeEpilogueOf(node, shape));
  }
  TIM_RETURN_IF_ERROR(CheckSpan(CodeTilesOf(problem.shape, ir::Layout::Dense(),
                                            node.many_shapes, device)));
  return problem;
}

std::vector<ir::LayoutTuple> Layouts(const Problem& problem,
                                     const ir::KernelNode& node,
                                     const ir::DeviceInfo&) {
  const auto& [shape, epilogue] = problem;
  const ir::LayoutTuple blocked = BlockedConv2dLayouts(node, epilogue.residual);
  if (shape.channels >= kFewChannels ||
      shape.group.channels != shape.channels) {
    return {blocked};
  }
  ir::LayoutTuple dense_input = blocked;
  dense_input.inputs[0] = ir::Layout::Dense();
  return {dense_input, blocked};
}

double Cost(const Problem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  return CodeTilesCost(node, problem.shape, device);
}

Result<ir::Lowering> Lower(const Problem& problem, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [shape, epilogue] = problem;
  ir::Lowering lowering;
  TIM_RETURN_IF_ERROR(ConvolveCodes(node, shape, std::nullopt,
                                    VariableCodesOf(ByteWeightsOf(shape)),
                                    epilogue, device, &lowering));
  return lowering;
}

}  // namespace

TIM_OPERATOR(conv2d_nchw16c_i8) {
  registry.Add(ir::TypedKernel<Problem>{.op = "tim.Conv2d",
                                        .name = "conv2d_nchw16c_i8",
                                        .takes_epilogue = true,
                                        .analyze = Analyze,
                                        .layouts = Layouts,
                                        .cost = Cost,
                                        .lower = Lower});
}

}  // namespace tim::ops
