// Tile and Broadcast: the input repeated along axes.
#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ops/elements/shapes.h"
#include "ops/movement/index_map.h"
#include "ops/movement/movement_rules.h"

namespace tim::ops {
namespace {

constexpr char kMultiples[] = "multiples";
constexpr char kDimensions[] = "dimensions";

Result<int64_t> Multiplied(int64_t extent, int64_t multiple, int axis) {
  const auto product = CheckedMul(extent, multiple);
  if (product) return *product;
  return InvalidArgument("the extent along axis ", axis, " overflows 64 bits");
}

Status InferTile(ir::InferContext& context) {
  const auto& multiples = context.attributes().Ints(kMultiples);
  const ir::Shape& input = context.shape(0);
  const auto rank = static_cast<int>(multiples.size());
  if (rank > ir::kMaxRank) {
    return InvalidArgument("attribute 'multiples' has ", rank,
                           " counts, at most ", ir::kMaxRank, " are legal");
  }
  if (input.ranked() && input.rank() != rank) {
    return InvalidArgument("attribute 'multiples' has ", rank,
                           " counts, the input ", input.ToString(), " has ",
                           input.rank(), " axes");
  }
  ir::Shape& output = context.outputs[0].desc.shape;
  output = ir::Shape::OfRank(rank);
  for (int axis = 0; axis < rank; ++axis) {
    if (multiples[axis] < 1) {
      return InvalidArgument("attribute 'multiples' is ", multiples[axis],
                             " along axis ", axis, ", expected 1 or more");
    }
    const int64_t bound = input.ranked() ? input.Bound(axis) : ir::kUnknownDim;
    if (bound == ir::kUnknownDim) continue;
    TIM_ASSIGN_OR_RETURN(const int64_t extent,
                         Multiplied(bound, multiples[axis], axis));
    if (input[axis] == ir::kUnknownDim) {
      output.SetBound(axis, extent);
    } else {
      output.set_dim(axis, extent);
    }
  }
  return OkStatus();
}

Result<std::vector<IndexMap>> TileMap(const ir::NodeView& view) {
  IndexMap map(view, 0, 0);
  for (int axis = 0; axis < static_cast<int>(map.from.size()); ++axis) {
    const int64_t extent = map.from[axis];
    map.Loop(extent, axis, 1, axis, 1);
    map.Loop(map.to[axis] / extent, kNoAxis, 0, axis, extent);
  }
  return std::vector{map};
}

// ---- Broadcast --------------------------------------------------------------

// The axis of the output that each axis of the input is.
Result<std::vector<int>> OutputAxes(const ir::AttributeMap& attributes,
                                    const ir::Shape& input) {
  const auto& dimensions = attributes.Ints(kDimensions);
  const auto rank = static_cast<int>(attributes.Ints("shape").size());
  std::vector<int> axes;
  if (dimensions.empty()) {
    for (int axis = 0; axis < input.rank(); ++axis) axes.push_back(axis);
    return axes;
  }
  if (static_cast<int>(dimensions.size()) != input.rank()) {
    return InvalidArgument("attribute 'dimensions' has ", dimensions.size(),
                           " axes, the input ", input.ToString(), " has ",
                           input.rank());
  }
  for (const int64_t dimension : dimensions) {
    TIM_ASSIGN_OR_RETURN(const int axis, WrapAxis(dimension, rank));
    if (std::count(axes.begin(), axes.end(), axis) != 0) {
      return InvalidArgument("attribute 'dimensions' names axis ", axis,
                             " twice");
    }
    axes.push_back(axis);
  }
  return axes;
}

// The input with its axes where they are in the output, others of extent 1.
Result<ir::Shape> PlacedInput(const ir::AttributeMap& attributes,
                              const ir::Shape& input) {
  TIM_ASSIGN_OR_RETURN(const auto axes, OutputAxes(attributes, input));
  if (attributes.Ints(kDimensions).empty()) return input;
  ir::Shape placed(std::vector<int64_t>(attributes.Ints("shape").size(), 1));
  for (int axis = 0; axis < input.rank(); ++axis) {
    placed.set_dim(axes[axis], input[axis]);
  }
  return placed;
}

Status CheckTarget(const std::vector<int64_t>& target) {
  if (target.empty() || target.size() > ir::kMaxRank) {
    return InvalidArgument("attribute 'shape' has ", target.size(),
                           " extents, expected 1 to ", ir::kMaxRank);
  }
  for (const int64_t extent : target) {
    if (extent >= 1) continue;
    return InvalidArgument("attribute 'shape' has an extent of ", extent,
                           ", expected 1 or more");
  }
  return OkStatus();
}

Status InferBroadcast(ir::InferContext& context) {
  const auto& target = context.attributes().Ints("shape");
  const ir::Shape& input = context.shape(0);
  TIM_RETURN_IF_ERROR(CheckTarget(target));
  if (!input.ranked()) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const ir::Shape placed,
                       PlacedInput(context.attributes(), input));
  TIM_ASSIGN_OR_RETURN(context.outputs[0].desc.shape,
                       BroadcastShapes(placed, ir::Shape(target)));
  return OkStatus();
}

Result<std::vector<IndexMap>> BroadcastMap(const ir::NodeView& view) {
  TIM_ASSIGN_OR_RETURN(const auto axes,
                       OutputAxes(view.node.attributes, view.inputs[0]->shape));
  IndexMap map(view, 0, 0);
  for (int to = 0; to < static_cast<int>(map.to.size()); ++to) {
    const auto at = std::find(axes.begin(), axes.end(), to);
    const auto from = static_cast<int>(at - axes.begin());
    if (at == axes.end() || map.from[from] == 1) {
      map.Loop(map.to[to], kNoAxis, 0, to, 1);
    } else {
      map.Loop(map.to[to], from, 1, to, 1);
    }
  }
  return std::vector{map};
}

}  // namespace

TIM_OPERATOR(tile) {
  using ir::AttributeType;
  ir::OpSchema tile = IndexMapSchema(
      "Tile", {{.name = kMultiples, .type = AttributeType::kInts}}, InferTile,
      TileMap);
  tile.surplus_inputs = 1;  // TFLite: multiples
  tile.permute_rule = MoveValues({kMultiples});
  tile.vjp = TileVjp;
  registry.Add(std::move(tile));
  registry.Add(IndexMapKernel("Tile", TileMap));
  ir::OpSchema broadcast = IndexMapSchema(
      "Broadcast",
      {{.name = "shape", .type = AttributeType::kInts},
       {kDimensions, AttributeType::kInts, std::vector<int64_t>()}},
      InferBroadcast, BroadcastMap);
  broadcast.surplus_inputs = 1;  // TFLite, ONNX: shape
  broadcast.vjp = BroadcastVjp;
  registry.Add(std::move(broadcast));
  registry.Add(IndexMapKernel("Broadcast", BroadcastMap));
}

}  // namespace tim::ops
