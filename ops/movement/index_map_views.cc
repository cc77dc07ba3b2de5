// Index maps that move nothing: results that lie in the input as they are.
#include <algorithm>

#include "ops/launch/blocked.h"
#include "ops/movement/channel_blocks.h"
#include "ops/movement/index_map.h"

namespace tim::ops {
namespace {

// 4-bit elements are in rows of whole bytes: only whole tensors of equal rows.
bool LieAlike(const ir::TensorDesc& from, const ir::TensorDesc& to) {
  if (ir::Info(from.type).bits >= 8) return true;
  const int64_t x = from.shape.DimOr1(0);
  const int64_t y = to.shape.DimOr1(0);
  return x == y || (x % 2 == 0 && y % 2 == 0);
}

// The same for tensors in blocks: channels of a single image.
int64_t StartOfBlocks(const IndexMap& map) {
  const auto sources = ChannelSourcesOf(map);
  if (!sources || map.from[3] != 1) return -1;
  const auto first = FirstOfWholeBlocks(*sources, map.from[2]);
  return first ? *first * map.from[0] * map.from[1] : -1;
}

// Where the map's results begin in the input, in bytes; -1: elsewhere.
int64_t FirstByte(const IndexMap& map, const ir::TensorDesc& from,
                  const ir::TensorDesc& to) {
  if (from.layout != to.layout) return -1;
  const int64_t start =
      from.layout.dense() ? ContiguousStart(map) : StartOfBlocks(map);
  if (start < 0 || RuleOf(map, from, to) != kernels::ConvertRule::kBits) {
    return -1;
  }
  return start * (ir::Info(from.type).bits / 8);
}

}  // namespace

bool HasStaticShapes(const ir::NodeView& view) {
  const auto is_static = [](const ir::TensorDesc* desc) {
    return desc == nullptr || desc->shape.IsStatic();
  };
  return std::all_of(view.inputs.begin(), view.inputs.end(), is_static) &&
         std::all_of(view.outputs.begin(), view.outputs.end(), is_static);
}

int64_t ContiguousStart(const IndexMap& map) {
  const FlatMap flat = Flatten(map);
  if (flat.extents.size() != 1 || !flat.from_bounds.empty() ||
      !flat.to_bounds.empty() || flat.to_start != 0) {
    return -1;
  }
  const int64_t count = flat.extents[0];
  if (count != ir::Shape(map.to).NumElements()) return -1;
  return count == 1 || (flat.from[0] == 1 && flat.to[0] == 1) ? flat.from_start
                                                              : -1;
}

bool IsView(const ir::NodeView& view, const IndexMaps& maps) {
  if (view.inputs.size() != 1 || view.outputs.size() != 1 ||
      !HasStaticShapes(view)) {
    return false;
  }
  const ir::TensorDesc& from = *view.inputs[0];
  const ir::TensorDesc& to = *view.outputs[0];
  if (from.shape.NumElements() != to.shape.NumElements() ||
      !LieAlike(from, to)) {
    return false;
  }
  const auto made = maps(view);
  return made.ok() && made->size() == 1 &&
         RuleOf((*made)[0], from, to) == kernels::ConvertRule::kBits &&
         ContiguousStart((*made)[0]) == 0;
}

std::vector<int64_t> PartOffsets(const ir::NodeView& view,
                                 const IndexMaps& maps) {
  if (view.inputs.size() != 1 || !HasStaticShapes(view) ||
      ir::Info(view.inputs[0]->type).bits < 8) {
    return {};
  }
  const auto made = maps(view);
  if (!made.ok()) return {};
  std::vector<int64_t> offsets(view.outputs.size(), -1);
  std::vector<int> count(view.outputs.size(), 0);
  for (const IndexMap& map : *made) {
    const ir::TensorDesc& to = *view.outputs[map.output];
    const bool only = ++count[map.output] == 1;
    offsets[map.output] = only ? FirstByte(map, *view.inputs[0], to) : -1;
  }
  return offsets;
}

}  // namespace tim::ops
