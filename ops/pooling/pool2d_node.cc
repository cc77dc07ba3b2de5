#include "ops/pooling/pool2d_node.h"

#include <algorithm>
#include <limits>

#include "ops/elements/shapes.h"

namespace tim::ops {
namespace {

Status CheckPositions(const char* name, const PoolAxis& axis) {
  // With room for one tile beyond the end.
  constexpr int64_t kTile = 64;
  const double last = static_cast<double>(axis.output + kTile) *
                          static_cast<double>(axis.stride) +
                      static_cast<double>(axis.kernel);
  const double end = static_cast<double>(axis.input) + axis.back;
  if (std::max(last, end) <= std::numeric_limits<int32_t>::max())
    return OkStatus();
  return Unimplemented("positions along ", name, " do not fit 32 bits");
}

}  // namespace

PoolType PoolTypeOf(const ir::AttributeMap& attributes) {
  return static_cast<PoolType>(attributes.Int("type"));
}

Result<PoolShape> PoolShapeOf(const ir::AttributeMap& attributes,
                              const ir::Shape& input, const ir::Shape& output) {
  TIM_ASSIGN_OR_RETURN(const PoolWindows2d windows, PoolWindowsOf(attributes));
  return PoolShape{.w = PoolAxisOf(windows.w, input[0], output[0]),
                   .h = PoolAxisOf(windows.h, input[1], output[1]),
                   .planes = input.Product(2, input.rank())};
}

Result<PoolShape> PoolShapeOf(const ir::KernelNode& node) {
  return PoolShapeOf(node.attributes(), node.inputs[0].shape,
                     node.outputs[0].shape);
}

Status CheckPool2dSizes(const ir::KernelNode& node) {
  TIM_ASSIGN_OR_RETURN(const PoolShape shape, PoolShapeOf(node));
  TIM_RETURN_IF_ERROR(CheckPositions("W", shape.w));
  return CheckPositions("H", shape.h);
}

void AddPoolSizes(const PoolShape& shape, Launch* launch) {
  launch->Int("w", shape.w.input)
      .Int("h", shape.h.input)
      .Int("out_w", shape.w.output)
      .Int("out_h", shape.h.output)
      .Int("planes", shape.planes)
      .Int("kernel_w", shape.w.kernel)
      .Int("kernel_h", shape.h.kernel)
      .Int("stride_w", shape.w.stride)
      .Int("stride_h", shape.h.stride)
      .Int("left", shape.w.pad)
      .Int("top", shape.h.pad);
}

void AddPaddedSizes(PoolType type, const PoolShape& shape, Launch* launch) {
  if (type != PoolType::kAveragePadded) return;
  launch->Int("padded_w", shape.w.input + shape.w.back)
      .Int("padded_h", shape.h.input + shape.h.back);
}

ir::ComputeEstimate Pool2dEstimate(const ir::NodeView& view) {
  const auto windows = PoolWindowsOf(view.node.attributes);
  if (!windows.ok()) return {};
  const auto extent = [&](const PoolWindow& window, int axis) {
    const ir::Shape& input = view.inputs[0]->shape;
    const int64_t cells =
        input.rank() > axis ? std::min(window.kernel, input[axis]) : 1;
    return static_cast<double>(cells);
  };
  return ElementwiseEstimate(view,
                             extent(windows->w, 0) * extent(windows->h, 1));
}

}  // namespace tim::ops
