#include "ops/internal/conv2d_node.h"

#include <limits>

#include "ops/internal/blocked.h"
#include "ops/internal/epilogue.h"
#include "ops/internal/product_sum.h"

namespace tim::ops {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

Status CheckElements(const char* operand, const ir::TensorDesc& desc) {
  const Result<int64_t> count = ir::PhysicalElements(desc);
  if (count.ok() && *count <= kMaxInt) return OkStatus();
  return Unimplemented(operand, " ", desc.shape.ToString(),
                       " has more elements than 32 bits count");
}

Status CheckPositions(const char* name, const ConvAxis& axis) {
  // The least and the greatest position that a kernel computes, with room for
  // one tile beyond the end.
  constexpr int64_t kTile = 64;
  const double last = static_cast<double>(axis.output + kTile) * axis.stride +
                      static_cast<double>(axis.kernel) * axis.dilation;
  if (axis.pad <= kMaxInt && last <= kMaxInt) return OkStatus();
  return Unimplemented("positions along ", name, " do not fit 32 bits");
}

}  // namespace

Result<Conv2dShape> Conv2dShapeOf(const ir::KernelNode& node) {
  return Conv2dShapeOf(node.attributes(), node.inputs[0].shape,
                       node.inputs[1].shape, node.anchor_output.shape);
}

Status CheckKernelSizes(const ir::KernelNode& node, const Conv2dShape& shape) {
  TIM_RETURN_IF_ERROR(CheckElements("input 0", node.inputs[0]));
  TIM_RETURN_IF_ERROR(CheckElements("the kernel", node.inputs[1]));
  TIM_RETURN_IF_ERROR(CheckElements("the output", node.anchor_output));
  TIM_RETURN_IF_ERROR(CheckPositions("W", shape.w));
  return CheckPositions("H", shape.h);
}

Result<Conv2dShape> BlockedConv2dOf(const ir::KernelNode& node) {
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, Conv2dShapeOf(node));
  if (shape.group.channels != shape.channels) {
    return Unimplemented("one group only, not ",
                         shape.channels / shape.group.channels);
  }
  if (node.constants[1] == nullptr) {
    return Unimplemented("the weights are not constant");
  }
  if (node.outputs[0].shape.rank() != 4) {
    return Unimplemented("the output has rank ", node.outputs[0].shape.rank(),
                         ", expected 4");
  }
  TIM_RETURN_IF_ERROR(
      EpilogueOf(node, kConvChannelAxis, Residual::kTaken).status());
  TIM_RETURN_IF_ERROR(CheckKernelSizes(node, shape));
  // Blocks make both tensors and the weights at most 32 times larger.
  for (const ir::TensorDesc* desc :
       {&node.inputs[0], &node.inputs[1], &node.outputs[0]}) {
    if (desc->shape.NumElements().value_or(0) > (int64_t{1} << 26)) {
      return Unimplemented(desc->shape.ToString(),
                           " is too large for 32-bit positions");
    }
  }
  return shape;
}

ir::LayoutTuple BlockedConv2dLayouts(const ir::KernelNode& node) {
  ir::LayoutTuple blocked = ir::DenseLayouts(node);
  for (size_t i = 0; i < blocked.inputs.size(); ++i) {
    if (!node.present[i]) blocked.inputs[i] = ir::Layout::Any();
  }
  blocked.inputs[0] = blocked.outputs[0] = ChannelBlocks();
  const auto epilogue = EpilogueOf(node, kConvChannelAxis, Residual::kTaken);
  if (epilogue.ok() && epilogue->residual >= 0) {
    blocked.inputs[epilogue->residual] = ChannelBlocks();
  }
  return blocked;
}

}  // namespace tim::ops
