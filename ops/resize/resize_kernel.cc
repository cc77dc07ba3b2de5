// The kernel of Resize and Resize1d, for every type, dense and in blocks of 16
// channels.
#include <optional>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "kernels/bytes/codes.h"
#include "ops/elements/convert.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"
#include "ops/launch/device_class.h"
#include "ops/launch/launch.h"
#include "ops/resize/blend.h"
#include "ops/resize/resize_codes.h"
#include "ops/resize/resize_node.h"
#include "ops/resize/resize_rows.h"

namespace tim::ops {
namespace {

// Neighbours that one work-item makes.
constexpr int64_t kBlockedTile = 4;
constexpr int64_t kCodesTile = 64;
constexpr int64_t kDenseTile = 64;  // On CPUs.

struct Problem {
  ResizeMap map;
  kernels::ConvertRule rule = kernels::ConvertRule::kBits;
  bool by_rows = false;  // Where it is dense.
};

Result<Problem> Analyze(int axes, const ir::KernelNode& node,
                        const ir::DeviceInfo& device) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  Problem out = {.map = {}, .rule = kernels::ConvertRuleOf(from, to)};
  TIM_RETURN_IF_ERROR(ResizeMoves(node.attributes(), from.shape, to.shape)
                          ? CheckConvert(from, to, out.rule)
                          : CheckKernelOperands(node));
  out.map = ResizeMapOf(node.attributes(), axes, from.shape, to.shape);
  out.by_rows = TakesResizeRows(node, out.map, device);
  return out;
}

// In blocks where a tail lane, which holds 0, gives 0: blends of zeros are 0.
std::vector<ir::LayoutTuple> Layouts(const Problem& problem,
                                     const ir::KernelNode& node,
                                     const ir::DeviceInfo&) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  std::vector<ir::LayoutTuple> out = {ir::DenseLayouts(node)};
  if (FitsChannelBlocks(from) && FitsChannelBlocks(to) &&
      ConversionKeepsZero(from, to, problem.rule)) {
    out.push_back(SameLayouts(node, ChannelBlocks()));
  }
  return out;
}

bool IsBlocked(const ir::KernelNode& node) {
  return node.inputs[0].layout == ChannelBlocks();
}

double Cost(const Problem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  return ElementwiseCost(node, device,
                         IsBlocked(node) || problem.by_rows
                             ? prices::kResizeVectors
                             : prices::kResize);
}

// Planes of the output, of 16 channels each in blocks.
int64_t PlanesOf(const ir::KernelNode& node, const ResizeMap& map) {
  if (!IsBlocked(node)) return map.planes;
  const int64_t channels = node.inputs[0].shape[2];
  return map.planes / channels * CeilDiv(channels, kChannelBlock);
}

void AddGeometry(const ir::KernelNode& node, const ResizeMap& map,
                 Launch* launch) {
  launch->Input("x", node, 0)
      .Output("y", node, 0)
      .Packed("sources", PackSources(map), 4)
      .Int("w", map.input_w)
      .Int("h", map.input_h)
      .Int("out_w", static_cast<int64_t>(map.w.size()))
      .Int("out_h", static_cast<int64_t>(map.h.size()))
      .Int("planes", PlanesOf(node, map));
}

// Blends of 8-bit codes in blocks.
Result<ir::Lowering> LowerCodes(const ir::KernelNode& node,
                                const ResizeMap& map, CodeBlends blends,
                                const ir::DeviceInfo& device) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  const BlendScale scale = BlendScaleOf(from, to);
  const auto out_w = static_cast<int64_t>(map.w.size());
  const auto out_h = static_cast<int64_t>(map.h.size());
  Launch launch("ops/resize/resize_codes.cl", "resize_codes");
  launch.Type("IN0", from).Type("OUT", to);
  launch.Option(StrCat("-DTILE=", kCodesTile));
  if (blends.exact) launch.Option("-DEXACT");
  if (blends.fused) launch.Option("-DFUSED");
  AddGeometry(node, map, &launch);
  return launch.Float("x_scale", scale.multiplier)
      .Int("x_zero", scale.in_zero)
      .Int("y_zero", scale.zero)
      .Tiles(device, CeilDiv(out_w, kCodesTile) * out_h, 1, PlanesOf(node, map))
      .PartitionSpatially()
      .Build();
}

Result<ir::Lowering> Lower(const Problem& problem, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [map, rule, by_rows] = problem;
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  const bool blocked = IsBlocked(node);
  if (blocked && !map.moves) {
    const auto blends = CodeBlendsOf(from, to, map);
    if (blends) return LowerCodes(node, map, *blends, device);
  }
  if (!blocked && by_rows) return LowerResizeRows(node, map, device);
  Launch launch("ops/resize/resize.cl", "resize");
  const bool bounded = map.moves && rule == kernels::ConvertRule::kRequantize &&
                       kernels::AreBoundedCodes(from, to);
  const int64_t dense_tile = CheckCpu(device).ok() ? kDenseTile : 1;
  const int64_t blocked_tile = bounded ? kCodesTile : kBlockedTile;
  const int64_t tile = blocked ? blocked_tile : dense_tile;
  if (blocked) launch.Option("-DLANES=16");
  launch.Option(StrCat("-DTILE=", tile));
  if (bounded) {
    launch.Option("-DRULE=BOUNDED").Type("IN0", from).Type("OUT", to);
  } else if (map.moves) {
    AddConvertOptions(from, to, rule, &launch);
  } else {
    launch.Option("-DRULE=BLEND").Type("IN0", from).Type("OUT", to);
  }
  AddGeometry(node, map, &launch);
  if (map.moves) {
    AddConvertArguments(from, to, rule, &launch);
  } else {
    AddBlendArguments(BlendScaleOf(from, to), &launch);
  }
  const auto out_w = static_cast<int64_t>(map.w.size());
  const auto out_h = static_cast<int64_t>(map.h.size());
  const int64_t planes = PlanesOf(node, map);
  const int64_t tiles = CeilDiv(out_w, tile) * out_h;
  if (!blocked) return launch.Tiles(device, tiles * planes).Build();
  return launch.Tiles(device, tiles, 1, planes).PartitionSpatially().Build();
}

ir::KernelDef ResizeKernel(const ResizeOp& op) {
  return ir::TypedKernel<Problem>{
      .op = StrCat("tim.", op.name),
      .name = LowerCase(op.name),
      .analyze =
          [axes = op.axes()](const ir::KernelNode& node,
                             const ir::DeviceInfo& device) {
            return Analyze(axes, node, device);
          },
      .layouts = Layouts,
      .cost = Cost,
      .lower = Lower};
}

}  // namespace

TIM_OPERATOR(resize_kernel) {
  for (const ResizeOp& op : ResizeOps()) registry.Add(ResizeKernel(op));
}

}  // namespace tim::ops
