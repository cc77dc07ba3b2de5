// The kernel of operators that are flat moves: ops/movement/index_map.cl.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/checked_math.h"
#include "ir/typed_kernel.h"
#include "ops/elements/axes.h"
#include "ops/elements/convert.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"
#include "ops/movement/channel_blocks.h"
#include "ops/movement/flat_move.h"

namespace tim::ops {
namespace {

constexpr int kBounds = 2;  // of index_map.cl

// The NodeView of a KernelNode with all its outputs.
class NodeOperands {
 public:
  explicit NodeOperands(const ir::KernelNode& node) : node_(*node.anchor) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      inputs_.push_back(node.present[i] ? &node.inputs[i] : nullptr);
    }
    for (const ir::TensorDesc& output : node.outputs) {
      outputs_.push_back(&output);
    }
  }
  ir::NodeView view() const { return {node_, inputs_, outputs_}; }

 private:
  const ir::Node& node_;
  std::vector<const ir::TensorDesc*> inputs_;
  std::vector<const ir::TensorDesc*> outputs_;
};

const std::vector<FlatMap::Bound>& BoundsOf(const FlatMap& flat) {
  return flat.from_bounds.empty() ? flat.to_bounds : flat.from_bounds;
}

// Whether all indices fit the kernel's ints, those that no tensor has too.
bool FitsInts(int64_t start, const std::vector<int64_t>& extents,
              const std::vector<int64_t>& strides) {
  int64_t sum = std::abs(start);
  for (size_t k = 0; k < extents.size(); ++k) {
    sum += std::abs(strides[k]) * extents[k];
  }
  return sum <= std::numeric_limits<int32_t>::max();
}

Status CheckFlatMap(const FlatMap& flat, const ir::TensorDesc& to) {
  const bool fills = !flat.from_bounds.empty();
  if (fills && !flat.to_bounds.empty()) {
    return Unimplemented("cropping what is padded has no kernel");
  }
  if (BoundsOf(flat).size() > kBounds) {
    return Unimplemented("padding along more than ", kBounds,
                         " axes has no kernel");
  }
  if (fills && to.quantized() && to.quantization.per_channel()) {
    return Unimplemented("zeros of per-channel quantization have no kernel");
  }
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const bool bounds_fit =
      std::all_of(BoundsOf(flat).begin(), BoundsOf(flat).end(),
                  [&](const FlatMap::Bound& bound) {
                    return bound.limit <= kMost &&
                           FitsInts(bound.start, flat.extents, bound.strides);
                  });
  if (!bounds_fit || !FitsInts(flat.from_start, flat.extents, flat.from) ||
      !FitsInts(flat.to_start, flat.extents, flat.to)) {
    return Unimplemented("indices that do not fit 32 bits have no kernel");
  }
  return OkStatus();
}

using Moves = std::vector<FlatMove>;

Result<Moves> Analyze(const FlatMoves& moves, const ir::KernelNode& node) {
  const NodeOperands operands(node);
  TIM_ASSIGN_OR_RETURN(Moves made, moves(operands.view()));
  for (const FlatMove& move : made) {
    const ir::TensorDesc& to = node.outputs[move.output];
    TIM_RETURN_IF_ERROR(CheckConvert(node.inputs[move.input], to, move.rule));
    TIM_RETURN_IF_ERROR(CheckFlatMap(move.flat, to));
  }
  return made;
}

// Rows of the kernel's table: strides in input and output and of the bounds.
std::vector<Axis> LoopsOf(const FlatMap& flat) {
  std::vector<Axis> loops;
  for (size_t k = 0; k < flat.extents.size(); ++k) {
    Axis loop{.extent = flat.extents[k],
              .strides = {flat.from[k], flat.to[k], 0, 0}};
    for (size_t b = 0; b < BoundsOf(flat).size(); ++b) {
      loop.strides[2 + b] = BoundsOf(flat)[b].strides[k];
    }
    loops.push_back(std::move(loop));
  }
  return loops;
}

int64_t Reach(const Axis& loop) { return std::abs(loop.strides[0]); }

// The tile's loops first: along the output, and, where that jumps in the input,
// the one that is nearest there.  A short loop is the outer one of a tile.
void OrderLoops(std::vector<Axis>* loops) {
  while (loops->size() < 2) loops->push_back({1, {0, 0, 0, 0}});
  if (Reach((*loops)[0]) > 1) {
    const auto nearest = std::min_element(
        loops->begin() + 1, loops->end(), [](const Axis& a, const Axis& b) {
          return Reach(a) != 0 && (Reach(b) == 0 || Reach(a) < Reach(b));
        });
    std::rotate(loops->begin() + 1, nearest, nearest + 1);
  }
  constexpr int64_t kShort = 16;
  if ((*loops)[0].extent < kShort && (*loops)[1].extent > (*loops)[0].extent) {
    std::swap((*loops)[0], (*loops)[1]);
  }
}

// Few elements, again and again.
bool IsRepeated(const FlatMap& flat, kernels::ConvertRule rule) {
  constexpr int64_t kFew = 16;
  constexpr int64_t kOften = 128;  // The table of them is worth its time.
  return rule == kernels::ConvertRule::kBits && BoundsOf(flat).empty() &&
         flat.extents.size() > 1 && flat.extents[0] < kFew &&
         flat.extents[1] >= kOften && flat.to[0] == 1 &&
         flat.to[1] == flat.extents[0] && flat.from[1] == 0;
}

struct TileSize {
  int64_t width = 1;
  int64_t height = 1;
};

TileSize TileOf(const std::vector<Axis>& loops, const ir::DeviceInfo& device) {
  // On a CPU enough to pay for finding the tile's place.
  const int64_t tile = device.device_class == ir::DeviceClass::kCpu ? 1024 : 16;
  const int64_t rows =
      Reach(loops[0]) > 1 ? std::min<int64_t>(loops[1].extent, 16) : 1;
  const int64_t row = std::max<int64_t>(tile / rows, 16);
  const int64_t width =
      AlignUp(CeilDiv(loops[0].extent, CeilDiv(loops[0].extent, row)), 16);
  return {width, std::max<int64_t>(tile / width, 1)};
}

// Bits of the real value 0.
int64_t ZeroBits(const ir::TensorDesc& desc) {
  ir::TensorDesc single = desc;
  single.shape = ir::Shape({1});
  int64_t bits = 0;
  kernels::ElementWriter({&single, &bits}).StoreReal(0, 0.0f);
  return bits;
}

Status AppendRepeated(const ir::KernelNode& node, const FlatMove& move,
                      const ir::DeviceInfo& device, ir::Lowering* lowering) {
  const FlatMap& flat = move.flat;
  const std::vector<Axis> loops = LoopsOf(flat);
  constexpr int64_t kWidth = 4096;
  const int64_t tiles = CeilDiv(loops[0].extent * loops[1].extent, kWidth) *
                        CountElements(std::span(loops).subspan(2));
  Launch launch("ops/movement/index_map.cl", "index_map_repeat");
  const ir::TensorDesc& to = node.outputs[move.output];
  AddConvertOptions(node.inputs[move.input], to, kernels::ConvertRule::kBits,
                    &launch);
  launch.Option(StrCat("-DWORD=", BitsType(to.type)))
      .Input("x", node, move.input)
      .Output("y", node, move.output)
      .Packed("loops", PackAxes(loops, 2 + kBounds), 4)
      .Int("rank", static_cast<int64_t>(loops.size()))
      .Int("tiles", tiles)
      .Int("width", kWidth)
      .Int("x_start", flat.from_start)
      .Int("y_start", flat.to_start);
  return launch.Tiles(device, tiles).AppendTo(lowering);
}

Status AppendMove(const ir::KernelNode& node, const FlatMove& move,
                  const ir::DeviceInfo& device, ir::Lowering* lowering) {
  const ir::TensorDesc& from = node.inputs[move.input];
  const ir::TensorDesc& to = node.outputs[move.output];
  const kernels::ConvertRule rule = move.rule;
  const FlatMap& flat = move.flat;
  if (device.device_class == ir::DeviceClass::kCpu && IsRepeated(flat, rule)) {
    return AppendRepeated(node, move, device, lowering);
  }
  std::vector<Axis> loops = LoopsOf(flat);
  OrderLoops(&loops);
  const TileSize tile = TileOf(loops, device);
  const int64_t tiles = CeilDiv(loops[0].extent, tile.width) *
                        CeilDiv(loops[1].extent, tile.height) *
                        CountElements(std::span(loops).subspan(2));
  Launch launch("ops/movement/index_map.cl", "index_map");
  if (!flat.from_bounds.empty()) launch.Option("-DFILL");
  if (!flat.to_bounds.empty()) launch.Option("-DCROP");
  launch.Option(StrCat("-DWORD=", BitsType(to.type)));
  AddConvertOptions(from, to, rule, &launch);
  launch.Input("x", node, move.input)
      .Output("y", node, move.output)
      .Packed("loops", PackAxes(loops, 2 + kBounds), 4);
  launch.Int("rank", static_cast<int64_t>(loops.size())).Int("tiles", tiles);
  launch.Int("width", tile.width).Int("height", tile.height);
  launch.Int("x_start", flat.from_start).Int("y_start", flat.to_start);
  for (size_t b = 0; b < kBounds; ++b) {
    const bool bounded = b < BoundsOf(flat).size();
    launch.Int(StrCat("start", b), bounded ? BoundsOf(flat)[b].start : 0)
        .Int(StrCat("limit", b), bounded ? BoundsOf(flat)[b].limit : 1);
  }
  launch.Long("value", flat.from_bounds.empty() ? 0 : ZeroBits(to));
  AddConvertArguments(from, to, rule, &launch);
  return launch.Tiles(device, tiles).AppendTo(lowering);
}

// Each output is one map, of channels alone.
bool MovesChannels(const Moves& moves, const ir::KernelNode& node) {
  std::vector<bool> made(node.outputs.size(), false);
  for (const FlatMove& move : moves) {
    if (made[move.output] || !move.channels ||
        !CanMoveChannels(node.inputs[move.input], node.outputs[move.output])) {
      return false;
    }
    made[move.output] = true;
  }
  return true;
}

std::vector<ir::LayoutTuple> Layouts(const Moves& moves,
                                     const ir::KernelNode& node,
                                     const ir::DeviceInfo&) {
  std::vector<ir::LayoutTuple> out = {ir::DenseLayouts(node)};
  if (MovesChannels(moves, node)) {
    out.push_back(SameLayouts(node, ChannelBlocks()));
  }
  return out;
}

Result<ir::Lowering> Lower(const Moves& moves, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  ir::Lowering lowering;
  for (const FlatMove& move : moves) {
    if (node.outputs[move.output].layout.dense()) {
      TIM_RETURN_IF_ERROR(AppendMove(node, move, device, &lowering));
    } else {
      TIM_RETURN_IF_ERROR(AppendChannelBlocks(
          node, move.input, move.output, *move.channels, device, &lowering));
    }
  }
  return lowering;
}

// No more is read than written; a launch per operand.
double Cost(const Moves&, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  const NodeOperands operands(node);
  const ir::NodeView view = operands.view();
  ir::ComputeEstimate estimate = node.anchor->schema->compute_estimate(view);
  estimate.bytes_read = std::min(estimate.bytes_read, estimate.bytes_written);
  const size_t launches = std::max(view.inputs.size(), view.outputs.size());
  return EstimateMicroseconds(estimate, device, prices::kIndexMap) +
         static_cast<double>(launches - 1) * device.launch_us;
}

}  // namespace

ir::KernelDef FlatMoveKernel(const std::string& name, FlatMoves moves) {
  return ir::TypedKernel<Moves>{
      .op = StrCat("tim.", name),
      .name = LowerCase(name),
      .analyze = [moves = std::move(moves)](
                     const ir::KernelNode& node,
                     const ir::DeviceInfo&) { return Analyze(moves, node); },
      .layouts = Layouts,
      .cost = Cost,
      .lower = Lower};
}

}  // namespace tim::ops
