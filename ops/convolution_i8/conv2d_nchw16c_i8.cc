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

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, Conv2dShapeOf(node));
  TIM_RETURN_IF_ERROR(CheckKernelSizes(node, shape));
  TIM_RETURN_IF_ERROR(IsTotal(node)
                          ? CheckTotals(node, shape)
                          : CheckCodes(node, shape, Residual::kTaken));
  return CheckSpan(CodeTilesOf(Flatten(shape), ir::Layout::Dense(),
                               node.many_shapes, device));
}

std::vector<ir::LayoutTuple> Layouts(const ir::KernelNode& node,
                                     const ir::DeviceInfo&) {
  const ir::LayoutTuple blocked = CodeTileLayouts(node);
  const Result<Conv2dShape> shape = Conv2dShapeOf(node);
  if (!shape.ok() || shape->channels >= kFewChannels ||
      shape->group.channels != shape->channels) {
    return {blocked};
  }
  ir::LayoutTuple dense_input = blocked;
  dense_input.inputs[0] = ir::Layout::Dense();
  return {dense_input, blocked};
}

double Cost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  const Result<Conv2dShape> shape = Conv2dShapeOf(node);
  return shape.ok() ? CodeTilesCost(node, Flatten(*shape), device) : 0;
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, Conv2dShapeOf(node));
  CodeEpilogue epilogue;
  if (!IsTotal(node)) {
    TIM_ASSIGN_OR_RETURN(epilogue, CodeEpilogueOf(node));
  }
  ir::Lowering lowering;
  TIM_RETURN_IF_ERROR(ConvolveCodes(node, Flatten(shape), std::nullopt,
                                    VariableCodesOf(ByteWeightsOf(shape)),
                                    epilogue, device, &lowering));
  return lowering;
}

}  // namespace

TIM_OPERATOR(conv2d_nchw16c_i8) {
  registry.Add(ir::PlainKernel{.op = "tim.Conv2d",
                               .name = "conv2d_nchw16c_i8",
                               .takes_epilogue = true,
                               .analyze = Supports,
                               .layouts = Layouts,
                               .cost = Cost,
                               .lower = Lower});
}

}  // namespace tim::ops
