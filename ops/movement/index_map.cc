#include "ops/movement/index_map.h"

#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "ops/doubts/codes.h"
#include "ops/elements/axes.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"

namespace tim::ops {
namespace {

// ---- channels ---------------------------------------------------------------

// Axis and rank of maps that move channels and nothing else.
constexpr int kChannelAxis = 2;
constexpr int kRank = 4;

// Calls see(from, to) with the coordinates along axis `from_axis` of the input
// and `to_axis` of the output that loops of the latter pass.
template <typename See>
void ForEachStep(const IndexMap& map, int from_axis, int to_axis, See see) {
  std::vector<MapLoop> loops;
  for (const MapLoop& loop : map.loops) {
    if (loop.to == to_axis && loop.extent > 1) loops.push_back(loop);
  }
  int64_t steps = 1;
  for (const MapLoop& loop : loops) steps *= loop.extent;
  for (int64_t step = 0; step < steps; ++step) {
    int64_t from = map.from_start[from_axis];
    int64_t to = map.to_start[to_axis];
    int64_t rest = step;
    for (const MapLoop& loop : loops) {
      const int64_t i = rest % loop.extent;
      rest /= loop.extent;
      if (loop.from == from_axis) from += i * loop.from_step;
      to += i * loop.to_step;
    }
    see(from, to);
  }
}

// The axis of the output along which the input's channels change; kNoAxis: the
// output has only one of them.
Result<int> AxisOfChannels(const IndexMap& map, int channels) {
  int axis = kNoAxis;
  for (const MapLoop& loop : map.loops) {
    if (loop.from != channels || loop.extent == 1 || loop.from_step == 0) {
      continue;
    }
    if (axis != kNoAxis && axis != loop.to) {
      return InvalidArgument("the channels of input ", map.input, ", axis ",
                             channels,
                             ", do not stand along one axis of output ",
                             map.output, "; declare its type and quantization");
    }
    axis = loop.to;
  }
  return axis;
}

ir::Quantization OneChannel(const ir::Quantization& quantization,
                            int64_t channel) {
  return ir::Quantization::PerTensor(quantization.Scale(channel),
                                     quantization.ZeroPoint(channel));
}

// The axis is a single loop through all of it, or has one element.
bool StaysAsItIs(const IndexMap& map, int axis) {
  if (map.from[axis] != map.to[axis] || map.from_start[axis] != 0 ||
      map.to_start[axis] != 0) {
    return false;
  }
  int64_t loops = 0;
  for (const MapLoop& loop : map.loops) {
    if (loop.extent == 1 || (loop.from != axis && loop.to != axis)) continue;
    if (loop.from != axis || loop.to != axis || loop.from_step != 1 ||
        loop.to_step != 1 || loop.extent != map.to[axis]) {
      return false;
    }
    ++loops;
  }
  return loops == (map.to[axis] == 1 ? 0 : 1);
}

// ---- flat loops -------------------------------------------------------------

// A coordinate of one tensor: that of a loop's start, and its steps.
struct Coordinate {
  int64_t start = 0;
  int64_t limit = 0;
  std::vector<int64_t> steps;  // per loop
};

bool MayLeave(const Coordinate& coordinate, const std::vector<MapLoop>& loops) {
  int64_t low = coordinate.start;
  int64_t high = coordinate.start;
  for (size_t k = 0; k < loops.size(); ++k) {
    const int64_t way = coordinate.steps[k] * (loops[k].extent - 1);
    low += std::min<int64_t>(way, 0);
    high += std::max<int64_t>(way, 0);
  }
  return low < 0 || high >= coordinate.limit;
}

enum class Side : uint8_t { kFrom, kTo };

int AxisOf(const MapLoop& loop, Side side) {
  return side == Side::kFrom ? loop.from : loop.to;
}
int64_t StepOf(const MapLoop& loop, Side side) {
  return side == Side::kFrom ? loop.from_step : loop.to_step;
}

// Those that may leave their axis.
std::vector<Coordinate> BoundedCoordinates(const IndexMap& map,
                                           const std::vector<MapLoop>& loops,
                                           Side side) {
  const auto& extents = side == Side::kFrom ? map.from : map.to;
  const auto& starts = side == Side::kFrom ? map.from_start : map.to_start;
  std::vector<Coordinate> out;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    Coordinate coordinate{starts[axis], extents[axis], {}};
    for (const MapLoop& loop : loops) {
      const bool along = AxisOf(loop, side) == static_cast<int>(axis);
      coordinate.steps.push_back(along ? StepOf(loop, side) : 0);
    }
    if (MayLeave(coordinate, loops)) out.push_back(std::move(coordinate));
  }
  return out;
}

std::vector<int64_t> LoopStrides(const std::vector<MapLoop>& loops,
                                 const std::vector<int64_t>& dense, Side side) {
  std::vector<int64_t> out;
  for (const MapLoop& loop : loops) {
    const int axis = AxisOf(loop, side);
    out.push_back(axis == kNoAxis ? 0 : dense[axis] * StepOf(loop, side));
  }
  return out;
}

// ---- schema -----------------------------------------------------------------

Status CheckMaps(const ir::NodeView& view, const IndexMaps& maps) {
  for (int i = 0; i < static_cast<int>(view.inputs.size()); ++i) {
    TIM_RETURN_IF_ERROR(CheckKnownType(view, Operand::kInput, i));
  }
  for (int i = 0; i < static_cast<int>(view.outputs.size()); ++i) {
    TIM_RETURN_IF_ERROR(CheckKnownType(view, Operand::kOutput, i));
    TIM_RETURN_IF_ERROR(CheckChannels(*view.outputs[i]));
  }
  return HasStaticShapes(view) ? maps(view).status() : OkStatus();
}

// The operands of an InferContext with the shapes inferred so far.
class InferredView {
 public:
  explicit InferredView(const ir::InferContext& context) : node_(context.node) {
    for (const auto& input : context.inputs) inputs_.push_back(input.desc);
    for (const auto& output : context.outputs) {
      outputs_.push_back(&output.desc);
    }
  }
  ir::NodeView view() const { return {node_, inputs_, outputs_}; }

 private:
  const ir::Node& node_;
  std::vector<const ir::TensorDesc*> inputs_;
  std::vector<const ir::TensorDesc*> outputs_;
};

Status InferMovedTypes(ir::InferContext& context, const IndexMaps& maps) {
  const ir::TensorDesc& input = *context.inputs[0].desc;
  const InferredView inferred(context);
  for (int i = 0; i < static_cast<int>(context.outputs.size()); ++i) {
    ir::TensorDesc& output = context.outputs[i].desc;
    if (output.type != ir::DataType::kUnknown) continue;
    InferTypeFromInput(context, i);
    if (!input.quantization.per_channel() ||
        !HasStaticShapes(inferred.view())) {
      continue;
    }
    TIM_ASSIGN_OR_RETURN(const auto made, maps(inferred.view()));
    for (const IndexMap& map : made) {
      if (map.output != i || map.input != 0) continue;
      TIM_ASSIGN_OR_RETURN(output.quantization, MovedQuantization(map, input));
      break;
    }
  }
  return OkStatus();
}

}  // namespace

IndexMap::IndexMap(const ir::NodeView& view, int input_index, int output_index)
    : input(input_index),
      output(output_index),
      from(view.inputs[input_index]->shape.dims()),
      from_start(from.size(), 0),
      to(view.outputs[output_index]->shape.dims()),
      to_start(to.size(), 0) {}

Result<ir::Quantization> MovedQuantization(const IndexMap& map,
                                           const ir::TensorDesc& input) {
  const ir::Quantization& quantization = input.quantization;
  if (!input.quantized() || !quantization.per_channel()) return quantization;
  if (map.from != input.shape.dims()) {
    return InvalidArgument("input ", map.input,
                           " is quantized per channel; declare the type and "
                           "quantization of output ",
                           map.output);
  }
  const int channels = quantization.axis;
  TIM_ASSIGN_OR_RETURN(const int axis, AxisOfChannels(map, channels));
  if (axis == kNoAxis) {
    return OneChannel(quantization, map.from_start[channels]);
  }
  ir::Quantization moved = quantization;
  moved.axis = axis;
  // One that counts for all channels stays so.
  const bool scales = moved.scales.size() > 1;
  const bool zeros = moved.zero_points.size() > 1;
  if (scales) moved.scales.assign(map.to[axis], quantization.Scale());
  if (zeros) moved.zero_points.assign(map.to[axis], quantization.ZeroPoint());
  ForEachStep(map, channels, axis, [&](int64_t from, int64_t to) {
    if (to < 0 || to >= map.to[axis]) return;
    if (from < 0 || from >= map.from[channels]) return;
    if (scales) moved.scales[to] = quantization.Scale(from);
    if (zeros) moved.zero_points[to] = quantization.ZeroPoint(from);
  });
  return moved;
}

std::vector<int64_t> SourcesAlong(const IndexMap& map, int from_axis,
                                  int to_axis) {
  std::vector<int64_t> sources(map.to[to_axis], -1);
  ForEachStep(map, from_axis, to_axis, [&](int64_t from, int64_t to) {
    if (to < 0 || to >= map.to[to_axis]) return;
    if (from >= 0 && from < map.from[from_axis]) sources[to] = from;
  });
  return sources;
}

std::optional<ChannelSources> ChannelSourcesOf(const IndexMap& map) {
  if (map.from.size() != kRank || map.to.size() != kRank) return std::nullopt;
  for (const int axis : {0, 1, 3}) {
    if (!StaysAsItIs(map, axis)) return std::nullopt;
  }
  return SourcesAlong(map, kChannelAxis, kChannelAxis);
}

kernels::ConvertRule RuleOf(const IndexMap& map, const ir::TensorDesc& from,
                            const ir::TensorDesc& to) {
  ir::TensorDesc moved = from;
  const auto quantization = MovedQuantization(map, from);
  if (quantization.ok()) moved.quantization = *quantization;
  return kernels::ConvertRuleOf(moved, to);
}

FlatMap Flatten(const IndexMap& map) {
  const std::vector<int64_t> from_dense = ir::DenseStrides(ir::Shape(map.from));
  const std::vector<int64_t> to_dense = ir::DenseStrides(ir::Shape(map.to));
  std::vector<MapLoop> loops = map.loops;
  std::stable_sort(
      loops.begin(), loops.end(), [&](const MapLoop& a, const MapLoop& b) {
        return to_dense[a.to] * a.to_step < to_dense[b.to] * b.to_step;
      });
  const auto from_bounds = BoundedCoordinates(map, loops, Side::kFrom);
  const auto to_bounds = BoundedCoordinates(map, loops, Side::kTo);
  std::vector<int64_t> extents;
  for (const MapLoop& loop : loops) extents.push_back(loop.extent);
  std::vector<std::vector<int64_t>> strides = {
      LoopStrides(loops, from_dense, Side::kFrom),
      LoopStrides(loops, to_dense, Side::kTo)};
  for (const auto* bounds : {&from_bounds, &to_bounds}) {
    for (const Coordinate& bound : *bounds) strides.push_back(bound.steps);
  }
  const std::vector<Axis> joined = JoinAxes(extents, strides);
  const auto strides_of = [&](size_t operand) {
    std::vector<int64_t> out;
    for (const Axis& axis : joined) out.push_back(axis.strides[operand]);
    return out;
  };
  FlatMap flat{.from_start = OffsetOf(from_dense, map.from_start),
               .to_start = OffsetOf(to_dense, map.to_start),
               .extents = {},
               .from = strides_of(0),
               .to = strides_of(1),
               .from_bounds = {},
               .to_bounds = {}};
  for (const Axis& axis : joined) flat.extents.push_back(axis.extent);
  size_t operand = 2;
  for (const Coordinate& bound : from_bounds) {
    flat.from_bounds.push_back(
        {bound.start, bound.limit, strides_of(operand++)});
  }
  for (const Coordinate& bound : to_bounds) {
    flat.to_bounds.push_back({bound.start, bound.limit, strides_of(operand++)});
  }
  return flat;
}

FlatMoves MovesOf(IndexMaps maps) {
  return [maps = std::move(maps)](
             const ir::NodeView& view) -> Result<std::vector<FlatMove>> {
    TIM_ASSIGN_OR_RETURN(const auto made, maps(view));
    std::vector<FlatMove> moves;
    for (const IndexMap& map : made) {
      FlatMove& move = moves.emplace_back();
      move.input = map.input;
      move.output = map.output;
      move.flat = Flatten(map);
      move.rule =
          RuleOf(map, *view.inputs[map.input], *view.outputs[map.output]);
      move.channels = ChannelSourcesOf(map);
    }
    return moves;
  };
}

ir::OpSchema IndexMapSchema(std::string name,
                            std::vector<ir::AttributeSpec> attributes,
                            std::function<Status(ir::InferContext&)> shapes,
                            IndexMaps maps) {
  ir::OpSchema schema = FlatMoveSchema(std::move(name), MovesOf(maps));
  schema.attributes = std::move(attributes);
  schema.check = [maps](const ir::NodeView& view) {
    return CheckMaps(view, maps);
  };
  schema.doubts = AllCodes;
  schema.infer_shapes =
      [maps, shapes = std::move(shapes)](ir::InferContext& context) -> Status {
    TIM_RETURN_IF_ERROR(shapes(context));
    return InferMovedTypes(context, maps);
  };
  return schema;
}

ir::KernelDef IndexMapKernel(const std::string& name, IndexMaps maps) {
  return FlatMoveKernel(name, MovesOf(std::move(maps)));
}

}  // namespace tim::ops
