// The kernel of Resize and Resize1d, for every type, dense and in blocks of 16
// channels.
#include <optional>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ops/elements/convert.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"
#include "ops/launch/launch.h"
#include "ops/resize/blend.h"
#include "ops/resize/resize_node.h"

namespace tim::ops {
namespace {

constexpr int64_t kBlockedTile = 4;  // Neighbours that one work-item makes.

bool Moves(const ir::KernelNode& node) {
  return ResizeMoves(node.attributes(), node.inputs[0].shape,
                     node.outputs[0].shape);
}

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo&) {
  TIM_RETURN_IF_ERROR(RefuseEpilogue(node));
  if (!Moves(node)) return CheckKernelOperands(node);
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  return CheckConvert(from, to, kernels::ConvertRuleOf(from, to));
}

// In blocks where a tail lane, which holds 0, gives 0: blends of zeros are 0.
std::vector<ir::LayoutTuple> Layouts(const ir::KernelNode& node,
                                     const ir::DeviceInfo&) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  std::vector<ir::LayoutTuple> out = {ir::DenseLayouts(node)};
  if (FitsChannelBlocks(from) && FitsChannelBlocks(to) &&
      ConversionKeepsZero(from, to, kernels::ConvertRuleOf(from, to))) {
    out.push_back(SameLayouts(node, ChannelBlocks()));
  }
  return out;
}

bool IsBlocked(const ir::KernelNode& node) {
  return node.inputs[0].layout == ChannelBlocks();
}

double Cost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  return ir::EstimateMicroseconds(ResizeEstimate(AnchorView(node).view()),
                                  device, IsBlocked(node) ? 0.05 : 0.008, 0.2);
}

Result<ir::Lowering> Lower(int axes, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  const ResizeMap map =
      ResizeMapOf(node.attributes(), axes, from.shape, to.shape);
  const bool blocked = IsBlocked(node);
  const kernels::ConvertRule rule = kernels::ConvertRuleOf(from, to);
  Launch launch("ops/resize/resize.cl", "resize");
  if (blocked)
    launch.Option("-DLANES=16").Option(StrCat("-DTILE=", kBlockedTile));
  if (map.moves) {
    AddConvertOptions(from, to, rule, &launch);
  } else {
    launch.Option("-DRULE=BLEND").Type("IN0", from).Type("OUT", to);
  }
  const auto out_w = static_cast<int64_t>(map.w.size());
  const auto out_h = static_cast<int64_t>(map.h.size());
  int64_t planes = map.planes;
  if (blocked) {
    planes = planes / from.shape[2] * CeilDiv(from.shape[2], kChannelBlock);
  }
  launch.Input("x", node, 0)
      .Output("y", node, 0)
      .Packed("sources", PackSources(map), 4)
      .Int("w", map.input_w)
      .Int("h", map.input_h)
      .Int("out_w", out_w)
      .Int("out_h", out_h)
      .Int("planes", planes);
  if (map.moves) {
    AddConvertArguments(from, to, rule, &launch);
  } else {
    AddBlendArguments(BlendScaleOf(from, to), &launch);
  }
  if (!blocked) return launch.Tiles(device, out_w * out_h * planes).Build();
  return launch.Tiles(device, CeilDiv(out_w, kBlockedTile) * out_h, 1, planes)
      .PartitionSpatially()
      .Build();
}

ir::KernelDef ResizeKernel(const ResizeOp& op) {
  return {.op = StrCat("tim.", op.name),
          .name = LowerCase(op.name),
          .supports = Supports,
          .layouts = Layouts,
          .cost = Cost,
          .lower = [axes = op.axes()](const ir::KernelNode& node,
                                      const ir::DeviceInfo& device) {
            return Lower(axes, node, device);
          }};
}

}  // namespace

TIM_OPERATOR(resize_kernel) {
  for (const ResizeOp& op : ResizeOps()) registry.Add(ResizeKernel(op));
}

}  // namespace tim::ops
