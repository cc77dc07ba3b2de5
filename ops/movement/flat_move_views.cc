// Flat moves that move nothing: results that lie in the input as they are.
#include <algorithm>

#include "ops/launch/blocked.h"
#include "ops/movement/channel_blocks.h"
#include "ops/movement/flat_move.h"

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
int64_t StartOfBlocks(const FlatMove& move, const ir::Shape& from) {
  if (!move.channels || from[3] != 1) return -1;
  const auto first = FirstOfWholeBlocks(*move.channels, from[2]);
  return first ? *first * from[0] * from[1] : -1;
}

// Where the map's results begin in the input, in bytes; -1: elsewhere.
int64_t FirstByte(const FlatMove& move, const ir::TensorDesc& from,
                  const ir::TensorDesc& to) {
  if (from.layout != to.layout || move.rule != kernels::ConvertRule::kBits) {
    return -1;
  }
  const int64_t start =
      from.layout.dense()
          ? ContiguousStart(move.flat, to.shape.NumElements().value_or(0))
          : StartOfBlocks(move, from.shape);
  return start < 0 ? -1 : start * (ir::Info(from.type).bits / 8);
}

}  // namespace

bool HasStaticShapes(const ir::NodeView& view) {
  const auto is_static = [](const ir::TensorDesc* desc) {
    return desc == nullptr || desc->shape.IsStatic();
  };
  return std::all_of(view.inputs.begin(), view.inputs.end(), is_static) &&
         std::all_of(view.outputs.begin(), view.outputs.end(), is_static);
}

int64_t ContiguousStart(const FlatMap& flat, int64_t count) {
  if (flat.extents.size() != 1 || !flat.from_bounds.empty() ||
      !flat.to_bounds.empty() || flat.to_start != 0) {
    return -1;
  }
  if (flat.extents[0] != count) return -1;
  return count == 1 || (flat.from[0] == 1 && flat.to[0] == 1) ? flat.from_start
                                                              : -1;
}

bool IsView(const ir::NodeView& view, const FlatMoves& moves) {
  if (view.inputs.size() != 1 || view.outputs.size() != 1 ||
      !HasStaticShapes(view)) {
    return false;
  }
  const ir::TensorDesc& from = *view.inputs[0];
  const ir::TensorDesc& to = *view.outputs[0];
  const auto count = to.shape.NumElements();
  if (from.shape.NumElements() != count || !LieAlike(from, to)) return false;
  const auto made = moves(view);
  return made.ok() && made->size() == 1 &&
         (*made)[0].rule == kernels::ConvertRule::kBits &&
         ContiguousStart((*made)[0].flat, count.value_or(0)) == 0;
}

std::vector<int64_t> PartOffsets(const ir::NodeView& view,
                                 const FlatMoves& moves) {
  if (view.inputs.size() != 1 || !HasStaticShapes(view) ||
      ir::Info(view.inputs[0]->type).bits < 8) {
    return {};
  }
  const auto made = moves(view);
  if (!made.ok()) return {};
  std::vector<int64_t> offsets(view.outputs.size(), -1);
  std::vector<int> count(view.outputs.size(), 0);
  for (const FlatMove& move : *made) {
    const ir::TensorDesc& to = *view.outputs[move.output];
    const bool only = ++count[move.output] == 1;
    offsets[move.output] = only ? FirstByte(move, *view.inputs[0], to) : -1;
  }
  return offsets;
}

std::optional<ir::ElementMap> ElementMapOf(const ir::NodeView& view,
                                           const FlatMoves& moves) {
  if (view.inputs.size() != 1 || view.outputs.size() != 1) return std::nullopt;
  const auto made = moves(view);
  if (!made.ok() || made->size() != 1) return std::nullopt;
  const FlatMap& flat = (*made)[0].flat;
  const bool in_order = flat.to_start == 0 && flat.to_bounds.empty() &&
                        flat.to == ir::DenseStrides(ir::Shape(flat.extents)) &&
                        ir::Shape(flat.extents).NumElements() ==
                            view.outputs[0]->shape.NumElements();
  if (!in_order) return std::nullopt;
  return ir::ElementMap{.start = flat.from_start,
                        .extents = flat.extents,
                        .strides = flat.from,
                        .bounds = flat.from_bounds};
}

}  // namespace tim::ops
