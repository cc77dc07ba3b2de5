#include "ops/convolution/conv2d_node.h"

#include <limits>

namespace tim::ops {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

Status CheckElements(const char* operand, const ir::TensorDesc& desc) {
  const Result<int64_t> count = ir::PhysicalElements(desc);
  if (count.ok() && *count <= kMaxInt) return OkStatus();
  return Unimplemented(operand, " ", desc.shape.ToString(),
                       " has more elements than 32 bits count");
}

// Ok, or that positions along spatial axis `index` do not fit 32 bits.
Status CheckPositions(int index, const ConvAxis& axis) {
  // The least and the greatest position that a kernel computes, with room for
  // one tile beyond the end.
  constexpr int64_t kTile = 64;
  const double last = static_cast<double>(axis.output + kTile) * axis.stride +
                      static_cast<double>(axis.kernel) * axis.dilation;
  if (axis.pad <= kMaxInt && last <= kMaxInt) return OkStatus();
  return Unimplemented("positions along ", SpatialAxisName(index),
                       " do not fit 32 bits");
}

}  // namespace

Result<ConvShape> ConvShapeOf(const ir::KernelNode& node) {
  return ConvShapeOf(node.attributes(), node.inputs[0].shape,
                     node.inputs[1].shape, node.anchor_output.shape);
}

Status CheckOperandSizes(const ir::KernelNode& node) {
  TIM_RETURN_IF_ERROR(CheckElements("input 0", node.inputs[0]));
  TIM_RETURN_IF_ERROR(CheckElements("the kernel", node.inputs[1]));
  return CheckElements("the output", node.anchor_output);
}

Status CheckKernelSizes(const ir::KernelNode& node, const ConvShape& shape) {
  TIM_RETURN_IF_ERROR(CheckOperandSizes(node));
  TIM_RETURN_IF_ERROR(CheckPositions(0, shape.w));
  TIM_RETURN_IF_ERROR(CheckPositions(1, shape.h));
  return CheckPositions(2, shape.d);
}

}  // namespace tim::ops
