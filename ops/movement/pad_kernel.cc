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

struct PadProblem {
  PadMode mode = PadMode::kConstant;
  kernels::ConvertRule rule = kernels::ConvertRule::kBits;
  int64_t value = 0;  ///< Bits of the constant.
  std::vector<int64_t> front;

  bool fills() const { return mode == PadMode::kConstant; }
};

Result<PadProblem> AnalyzePad(const ir::KernelNode& node,
                              const ir::DeviceInfo&) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  PadProblem out = {.mode = PadModeOf(node.attributes()),
                    .rule = kernels::ConvertRuleOf(from, to),
                    .front = node.attributes().Ints(kFrontSize)};
  TIM_RETURN_IF_ERROR(CheckConvert(from, to, out.rule));
  if (out.fills() && to.quantized() && to.quantization.per_channel()) {
    return Unimplemented(
        "a constant of per-channel quantization has no kernel");
  }
  out.value = ElementBits(to, *node.attributes().Find(kConstVal));
  return out;
}

// Blocks stay as they are where no channels are added, and tail lanes 0.
bool CanPadBlocks(const PadProblem& problem, const ir::KernelNode& node) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  const ir::Layout blocks = ChannelBlocks();
  if (!FitsChannelBlocks(from) || !FitsChannelBlocks(to) ||
      from.shape[blocks.axis] != to.shape[blocks.axis] ||
      !ConversionKeepsZero(from, to, problem.rule)) {
    return false;
  }
  return !problem.fills() || to.shape[blocks.axis] % blocks.block == 0 ||
         problem.value == ElementBits(to, 0.0);
}

std::vector<ir::LayoutTuple> PadLayouts(const PadProblem& problem,
                                        const ir::KernelNode& node,
                                        const ir::DeviceInfo&) {
  std::vector<ir::LayoutTuple> out = {ir::DenseLayouts(node)};
  if (CanPadBlocks(problem, node)) {
    out.push_back(SameLayouts(node, ChannelBlocks()));
  }
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
bool Collapse(const PadProblem& problem, const PadAxis& axis,
              const PadAxis& next) {
  return axis.to == axis.from && (problem.fills() || next.to == next.from);
}

// Axes in memory, collapsed where they may be; at least two.
std::vector<PadAxis> PadAxes(const PadProblem& problem,
                             const ir::KernelNode& node) {
  const ir::TensorDesc& input = node.inputs[0];
  const std::vector<int64_t> from = ir::PhysicalDims(input);
  const std::vector<int64_t> to = ir::PhysicalDims(node.outputs[0]);
  std::vector<int64_t> front = problem.front;
  if (input.layout.blocked()) front.insert(front.begin(), 0);
  std::vector<PadAxis> axes;
  int64_t stride = 1;
  for (size_t i = 0; i < from.size(); ++i) {
    const PadAxis next = {to[i], from[i], front[i], stride};
    stride *= from[i];
    if (next.to == 1) continue;
    if (axes.empty() || !Collapse(problem, axes.back(), next)) {
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

const char* ModeName(PadMode mode) {
  constexpr const char* kNames[] = {"CONSTANT", "EDGE", "SYMMETRIC", "REFLECT"};
  return kNames[static_cast<int64_t>(mode)];
}

Result<ir::Lowering> LowerPad(const PadProblem& problem,
                              const ir::KernelNode& node,
                              const ir::DeviceInfo& device) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  const std::vector<PadAxis> axes = PadAxes(problem, node);
  // On a CPU enough to pay for finding the tile's place.
  const int64_t tile = device.device_class == ir::DeviceClass::kCpu ? 1024 : 16;
  const int64_t width =
      AlignUp(CeilDiv(axes[0].to, CeilDiv(axes[0].to, tile)), 16);
  const int64_t height = std::max<int64_t>(tile / width, 1);
  int64_t tiles = CeilDiv(axes[0].to, width) * CeilDiv(axes[1].to, height);
  for (size_t i = 2; i < axes.size(); ++i) tiles *= axes[i].to;
  Launch launch("ops/movement/pad.cl", "pad");
  launch.Option(StrCat("-DMODE=", ModeName(problem.mode)))
      .Option(StrCat("-DWORD=", BitsType(to.type)));
  AddConvertOptions(from, to, problem.rule, &launch);
  launch.Input("x", node, 0)
      .Output("y", node, 0)
      .Packed("axes", PackPadAxes(axes), 4);
  launch.Int("rank", static_cast<int64_t>(axes.size())).Int("tiles", tiles);
  launch.Int("width", width).Int("height", height).Long("value", problem.value);
  AddConvertArguments(from, to, problem.rule, &launch);
  return launch.Tiles(device, tiles).Build();
}

}  // namespace

ir::KernelDef PadKernel(std::string op, std::string name) {
  return ir::TypedKernel<PadProblem>{.op = std::move(op),
                                     .name = std::move(name),
                                     .analyze = AnalyzePad,
                                     .layouts = PadLayouts,
                                     .cost = CostAt(prices::kPad),
                                     .lower = LowerPad};
}

}  // namespace tim::ops
