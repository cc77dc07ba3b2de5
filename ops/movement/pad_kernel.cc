// The kernel of Pad and PadV2.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "ir/typed_kernel.h"
#include "ops/elements/convert.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"
#include "ops/launch/packed.h"
#include "ops/movement/padding.h"

namespace tim::ops {
namespace {

bool Fills(const ir::KernelNode& node) {
  return PadModeOf(node.attributes()) == PadMode::kConstant;
}

Status SupportsPad(const ir::KernelNode& node, const ir::DeviceInfo&) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  TIM_RETURN_IF_ERROR(CheckConvert(from, to, kernels::ConvertRuleOf(from, to)));
  if (!Fills(node) || !to.quantized() || !to.quantization.per_channel()) {
    return OkStatus();
  }
  return Unimplemented("a constant of per-channel quantization has no kernel");
}

int64_t ConstantBits(const ir::KernelNode& node) {
  return ElementBits(node.outputs[0], *node.attributes().Find(kConstVal));
}

// Blocks stay as they are where no channels are added, and tail lanes 0.
bool CanPadBlocks(const ir::KernelNode& node) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  const ir::Layout blocks = ChannelBlocks();
  if (!FitsChannelBlocks(from) || !FitsChannelBlocks(to) ||
      from.shape[blocks.axis] != to.shape[blocks.axis] ||
      !ConversionKeepsZero(from, to, kernels::ConvertRuleOf(from, to))) {
    return false;
  }
  return !Fills(node) || to.shape[blocks.axis] % blocks.block == 0 ||
         ConstantBits(node) == ElementBits(to, 0.0);
}

std::vector<ir::LayoutTuple> PadLayouts(const ir::KernelNode& node,
                                        const ir::DeviceInfo&) {
  std::vector<ir::LayoutTuple> out = {ir::DenseLayouts(node)};
  if (CanPadBlocks(node)) out.push_back(SameLayouts(node, ChannelBlocks()));
  return out;
}

// An axis of the kernel's loop: a row of its table.
struct PadAxis {
  int64_t to = 1;    ///< Extent of the output.
  int64_t from = 1;  ///< Of the input.
  int64_t front = 0;
  int64_t stride = 0;  ///< In the input.
};

// Whether `next` adds whole runs of `axis`, which itself has nothing added.
bool Collapse(const ir::KernelNode& node, const PadAxis& axis,
              const PadAxis& next) {
  return axis.to == axis.from && (Fills(node) || next.to == next.from);
}

// Axes in memory, collapsed where they may be; at least two.
std::vector<PadAxis> PadAxes(const ir::KernelNode& node) {
  const ir::TensorDesc& input = node.inputs[0];
  const std::vector<int64_t> from = ir::PhysicalDims(input);
  const std::vector<int64_t> to = ir::PhysicalDims(node.outputs[0]);
  std::vector<int64_t> front = node.attributes().Ints(kFrontSize);
  if (input.layout.blocked()) front.insert(front.begin(), 0);
  std::vector<PadAxis> axes;
  int64_t stride = 1;
  for (size_t i = 0; i < from.size(); ++i) {
    const PadAxis next = {to[i], from[i], front[i], stride};
    stride *= from[i];
    if (next.to == 1) continue;
    if (axes.empty() || !Collapse(node, axes.back(), next)) {
      axes.push_back(next);
      continue;
    }
    PadAxis& axis = axes.back();
    axis.front = next.front * axis.from;
    axis.to *= next.to;
    axis.from *= next.from;
  }
  while (axes.size() < 2) axes.push_back({});
  return axes;
}

ir::PackedConstant PackPadAxes(const std::vector<PadAxis>& axes) {
  std::vector<int32_t> table;
  for (const PadAxis& axis : axes) {
    for (const int64_t word : {axis.to, axis.from, axis.front, axis.stride}) {
      table.push_back(static_cast<int32_t>(word));
    }
  }
  return PackedTable("pad axes", std::move(table));
}

const char* ModeName(const ir::KernelNode& node) {
  constexpr const char* kNames[] = {"CONSTANT", "EDGE", "SYMMETRIC", "REFLECT"};
  return kNames[static_cast<int64_t>(PadModeOf(node.attributes()))];
}

Result<ir::Lowering> LowerPad(const ir::KernelNode& node,
                              const ir::DeviceInfo& device) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  const kernels::ConvertRule rule = kernels::ConvertRuleOf(from, to);
  const std::vector<PadAxis> axes = PadAxes(node);
  // On a CPU enough to pay for finding the tile's place.
  const int64_t tile = device.device_class == ir::DeviceClass::kCpu ? 1024 : 16;
  const int64_t width =
      AlignUp(CeilDiv(axes[0].to, CeilDiv(axes[0].to, tile)), 16);
  const int64_t height = std::max<int64_t>(tile / width, 1);
  int64_t tiles = CeilDiv(axes[0].to, width) * CeilDiv(axes[1].to, height);
  for (size_t i = 2; i < axes.size(); ++i) tiles *= axes[i].to;
  Launch launch("ops/movement/pad.cl", "pad");
  launch.Option(StrCat("-DMODE=", ModeName(node)))
      .Option(StrCat("-DWORD=", BitsType(to.type)));
  AddConvertOptions(from, to, rule, &launch);
  launch.Input("x", node, 0)
      .Output("y", node, 0)
      .Packed("axes", PackPadAxes(axes), 4);
  launch.Int("rank", static_cast<int64_t>(axes.size())).Int("tiles", tiles);
  launch.Int("width", width)
      .Int("height", height)
      .Long("value", ConstantBits(node));
  AddConvertArguments(from, to, rule, &launch);
  return launch.Tiles(device, tiles).Build();
}

}  // namespace

ir::KernelDef PadKernel(std::string op, std::string name) {
  return ir::PlainKernel{
      .op = std::move(op),
      .name = std::move(name),
      .analyze = SupportsPad,
      .layouts = PadLayouts,
      .cost =
          [](const ir::KernelNode& node, const ir::DeviceInfo& device) {
            return ElementwiseCost(node, device, 0.1);
          },
      .lower = LowerPad};
}

}  // namespace tim::ops
