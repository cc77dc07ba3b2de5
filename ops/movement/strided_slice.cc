// StridedSlice: every stride-th element of a range along each axis, with
// TFLite's masks.
#include "ops/movement/strided_slice.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ops/doubts/codes.h"
#include "ops/movement/index_map.h"
#include "ops/movement/movement_rules.h"

namespace tim::ops {
namespace {

constexpr char kBegin[] = "begin_dims";
constexpr char kEnd[] = "end_dims";
constexpr char kStride[] = "stride_dims";
constexpr char kBeginMask[] = "begin_mask";
constexpr char kEndMask[] = "end_mask";
constexpr char kShrinkMask[] = "shrink_axis_mask";
constexpr char kNewAxisMask[] = "new_axis_mask";

bool Has(const ir::AttributeMap& attributes, const char* mask, size_t i) {
  return i < 32 && (attributes.Int(mask) >> i & 1) != 0;
}

// What becomes of an axis of the input, or an axis that is added.
struct SlicedAxis {
  int input = kNoAxis;  ///< kNoAxis: added.
  bool shrunk = false;  ///< Not in the output.
  int64_t begin = 0;
  int64_t stride = 1;
  int64_t extent = 1;  ///< By the end: of outputs that are not declared.
};

// Along an axis of `extent`, which may be unknown: then begin and extent are.
Status SetRange(const ir::AttributeMap& attributes, size_t i, int64_t extent,
                SlicedAxis* axis) {
  axis->shrunk = Has(attributes, kShrinkMask, i);
  const int64_t stride = attributes.Ints(kStride)[i];
  if (stride == 0) {
    return InvalidArgument("attribute 'stride_dims' is 0 at ", i);
  }
  axis->stride = axis->shrunk ? 1 : stride;
  if (extent == ir::kUnknownDim) {
    axis->extent = axis->shrunk ? 1 : ir::kUnknownDim;
    return OkStatus();
  }
  const int64_t low = stride > 0 ? 0 : -1;
  const int64_t high = stride > 0 ? extent : extent - 1;
  const auto place = [&](int64_t at) {
    return std::clamp(at < 0 ? at + extent : at, low, high);
  };
  const int64_t begin = attributes.Ints(kBegin)[i];
  const bool first = Has(attributes, kBeginMask, i);
  axis->begin = first ? (stride > 0 ? 0 : extent - 1) : place(begin);
  if (axis->shrunk) {
    if (first || (begin >= -extent && begin < extent)) return OkStatus();
    return InvalidArgument("attribute 'begin_dims' is ", begin, " at ", i,
                           ", outside of the extent ", extent);
  }
  const int64_t end = Has(attributes, kEndMask, i)
                          ? (stride > 0 ? extent : -1)
                          : place(attributes.Ints(kEnd)[i]);
  const int64_t way = stride > 0 ? end - axis->begin : axis->begin - end;
  axis->extent = std::max<int64_t>(CeilDiv(way, std::abs(stride)), 0);
  return OkStatus();
}

// Axes of a ranked input and added ones, fastest first.
Result<std::vector<SlicedAxis>> SlicedAxes(const ir::AttributeMap& attributes,
                                           const ir::Shape& input) {
  const size_t count = attributes.Ints(kBegin).size();
  for (const char* name : {kEnd, kStride}) {
    if (attributes.Ints(name).size() == count) continue;
    return InvalidArgument("attribute '", name, "' has ",
                           attributes.Ints(name).size(),
                           " values, attribute 'begin_dims' has ", count);
  }
  std::vector<SlicedAxis> axes;
  int next = 0;
  for (size_t i = 0; i < count; ++i) {
    SlicedAxis& axis = axes.emplace_back();
    if (Has(attributes, kNewAxisMask, i)) continue;
    if (next == input.rank()) {
      return InvalidArgument("attribute 'begin_dims' has ", count,
                             " values, more than the input ", input.ToString(),
                             " has axes");
    }
    axis.input = next;
    TIM_RETURN_IF_ERROR(SetRange(attributes, i, input[next++], &axis));
  }
  for (; next < input.rank(); ++next) {
    axes.push_back({.input = next, .extent = input[next]});
  }
  return axes;
}

bool IsFromTheStart(const std::vector<SlicedAxis>& axes) {
  return std::all_of(axes.begin(), axes.end(), [](const SlicedAxis& axis) {
    return axis.begin == 0 && axis.stride == 1;
  });
}

// Which axis becomes which axis of `output`, whose extents rule.  Those that
// are shrunk may be declared as well.
std::optional<std::vector<int>> OutputAxes(const std::vector<SlicedAxis>& axes,
                                           const ir::Shape& output) {
  const auto kept = std::count_if(
      axes.begin(), axes.end(), [](const auto& axis) { return !axis.shrunk; });
  const bool all = output.rank() != std::max<int64_t>(kept, 1);
  if (all && output.rank() != static_cast<int>(axes.size())) {
    return std::nullopt;
  }
  std::vector<int> out;
  int next = 0;
  for (const SlicedAxis& axis : axes) {
    out.push_back(axis.shrunk && !all ? kNoAxis : next++);
  }
  return out;
}

bool IsWholeInput(const std::vector<SlicedAxis>& axes, const ir::Shape& input,
                  const ir::Shape& output) {
  return IsFromTheStart(axes) && input.NumElements() == output.NumElements();
}

Status CheckReach(const SlicedAxis& axis, int64_t steps, int64_t extent) {
  const int64_t last = axis.begin + (steps - 1) * axis.stride;
  if (std::min(axis.begin, last) >= 0 && std::max(axis.begin, last) < extent) {
    return OkStatus();
  }
  return InvalidArgument("the output has ", steps, " elements from ",
                         axis.begin, " by ", axis.stride, " along axis ",
                         axis.input, ", outside of the input's extent ",
                         extent);
}

// Whether there are elements for all of a static output, axis by axis.
Status CheckOutputAxes(const std::vector<SlicedAxis>& axes,
                       const ir::Shape& input, const ir::Shape& output) {
  const auto places = OutputAxes(axes, output);
  if (!places) {
    return InvalidArgument("the output is declared as ", output.ToString(),
                           ", which has another rank than the slice");
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const int place = (*places)[i];
    const int64_t steps = place == kNoAxis ? 1 : output[place];
    if (axes[i].input != kNoAxis) {
      TIM_RETURN_IF_ERROR(CheckReach(axes[i], steps, input[axes[i].input]));
    } else if (steps != 1) {
      return InvalidArgument("the output is declared as ", output.ToString(),
                             ", but its axis ", place, " is a new one");
    }
  }
  return OkStatus();
}

Status CheckOutput(const std::vector<SlicedAxis>& axes, const ir::Shape& input,
                   const ir::Shape& output) {
  return IsWholeInput(axes, input, output)
             ? OkStatus()
             : CheckOutputAxes(axes, input, output);
}

Result<std::vector<IndexMap>> StridedSliceMap(const ir::NodeView& view) {
  const ir::Shape& input = view.inputs[0]->shape;
  const ir::Shape& output = view.outputs[0]->shape;
  TIM_ASSIGN_OR_RETURN(const auto axes,
                       SlicedAxes(view.node.attributes, input));
  TIM_RETURN_IF_ERROR(CheckOutput(axes, input, output));
  IndexMap map(view, 0, 0);
  if (IsWholeInput(axes, input, output)) {
    map.to = map.from;
    map.to_start = map.from_start;
    for (int axis = 0; axis < input.rank(); ++axis) {
      map.Loop(input[axis], axis, 1, axis, 1);
    }
    return std::vector{map};
  }
  const std::vector<int> places = *OutputAxes(axes, output);
  for (size_t i = 0; i < axes.size(); ++i) {
    const SlicedAxis& axis = axes[i];
    if (axis.input == kNoAxis) continue;
    map.from_start[axis.input] = axis.begin;
    if (places[i] == kNoAxis) continue;
    map.Loop(output[places[i]], axis.input, axis.stride, places[i], 1);
  }
  return std::vector{map};
}

// By begin and end.
Result<ir::Shape> SlicedShape(const std::vector<SlicedAxis>& axes) {
  std::vector<int64_t> dims;
  for (const SlicedAxis& axis : axes) {
    if (axis.shrunk) continue;
    if (axis.extent == 0) {
      return InvalidArgument("nothing is left of the input along axis ",
                             axis.input);
    }
    dims.push_back(axis.extent);
  }
  if (dims.empty()) dims.push_back(1);
  if (dims.size() <= ir::kMaxRank) return ir::Shape(std::move(dims));
  return InvalidArgument("the output has ", dims.size(), " axes, at most ",
                         ir::kMaxRank, " are legal");
}

// The declared shape, where the slice may have it.
Result<ir::Shape> OutputShape(const std::vector<SlicedAxis>& axes,
                              const ir::Shape& input,
                              const ir::Shape* declared) {
  const Result<ir::Shape> sliced = SlicedShape(axes);
  if (declared == nullptr || !declared->IsStatic()) return sliced;
  if (!input.IsStatic()) return *declared;
  const Status possible = CheckOutput(axes, input, *declared);
  if (possible.ok()) return *declared;
  // Another grouping of the same elements.
  if (sliced.ok() && sliced->NumElements() == declared->NumElements()) {
    return sliced;
  }
  return possible;
}

Status InferStridedSlice(ir::InferContext& context) {
  auto& output = context.outputs[0];
  const ir::Shape& input = context.shape(0);
  if (!input.ranked()) {
    if (output.declared != nullptr) output.desc.shape = *output.declared;
    return OkStatus();
  }
  TIM_ASSIGN_OR_RETURN(const auto axes,
                       SlicedAxes(context.attributes(), input));
  TIM_ASSIGN_OR_RETURN(output.desc.shape,
                       OutputShape(axes, input, output.declared));
  output.is_scalar = std::all_of(axes.begin(), axes.end(),
                                 [](const auto& axis) { return axis.shrunk; });
  return OkStatus();
}

int64_t PermutedMask(int64_t mask, std::span<const int> perm) {
  int64_t out = 0;
  for (size_t i = 0; i < perm.size(); ++i) {
    out |= (mask >> perm[i] & 1) << i;
  }
  return out;
}

// How the axes that are left move.
ir::Permutation KeptAxes(const std::vector<SlicedAxis>& axes,
                         std::span<const int> perm) {
  std::vector<int> places;
  int next = 0;
  for (const SlicedAxis& axis : axes) {
    places.push_back(axis.shrunk ? kNoAxis : next++);
  }
  ir::Permutation out;
  for (const int axis : perm) {
    if (places[axis] != kNoAxis) out.push_back(places[axis]);
  }
  return out;
}

// Every axis gets its values, those that were taken whole too.
Result<ir::PermutedNode> PermuteStridedSlice(const ir::NodeView& view, int,
                                             std::span<const int> perm) {
  const ir::Shape& input = view.inputs[0]->shape;
  const ir::Shape& output = view.outputs[0]->shape;
  ir::PermutedNode out = ir::UnpermutedNode(view);
  ir::AttributeMap& attributes = out.attributes;
  if (attributes.Int(kNewAxisMask) != 0) {
    return Unimplemented("new axes stand between the input's");
  }
  TIM_ASSIGN_OR_RETURN(const auto axes, SlicedAxes(attributes, input));
  if (input.IsStatic() && output.IsStatic()) {
    TIM_RETURN_IF_ERROR(CheckOutputAxes(axes, input, output));
  }
  const size_t count = attributes.Ints(kBegin).size();
  int64_t whole = 0;
  for (size_t axis = count; axis < axes.size(); ++axis) {
    whole |= int64_t{1} << axis;
  }
  for (const char* name : {kBegin, kEnd, kStride}) {
    std::vector<int64_t> values = attributes.Ints(name);
    values.resize(axes.size(), name == kStride ? 1 : 0);
    attributes.Set(name, ir::Permuted(values, perm));
  }
  for (const char* name : {kBeginMask, kEndMask}) {
    attributes.Set(name, PermutedMask(attributes.Int(name) | whole, perm));
  }
  attributes.Set(kShrinkMask, PermutedMask(attributes.Int(kShrinkMask), perm));
  out.inputs[0].assign(perm.begin(), perm.end());
  out.outputs[0] = KeptAxes(axes, perm);
  return out;
}

// Declared extents rule where there are elements for them; those that neither
// rounding of (end - begin) / stride gives were hardly meant.  A range without
// elements leaves them open.
std::vector<std::string> FindDoubts(const ir::NodeView& view) {
  Doubts doubts = AllCodes(view);
  const ir::Shape& input = view.inputs[0]->shape;
  const ir::Shape& output = view.outputs[0]->shape;
  if (!input.IsStatic() || !output.IsStatic()) return doubts;
  const auto axes = SlicedAxes(view.node.attributes, input);
  if (!axes.ok() || IsWholeInput(*axes, input, output)) return doubts;
  const auto places = OutputAxes(*axes, output);
  if (!places) return doubts;
  for (size_t i = 0; i < axes->size(); ++i) {
    const SlicedAxis& axis = (*axes)[i];
    const int place = (*places)[i];
    if (place == kNoAxis || axis.extent == 0) continue;
    const int64_t least = axis.extent - (std::abs(axis.stride) > 1 ? 1 : 0);
    if (output[place] >= least && output[place] <= axis.extent) continue;
    doubts.push_back(StrCat(
        "output 0 is declared as ", output.ToString(), ": along axis ", place,
        " ", output[place], " where begin, end and stride give ", axis.extent,
        "; the declared extent rules, and end has no meaning; declare what "
        "they give, or {} to have it inferred"));
    break;
  }
  return doubts;
}

ir::OpSchema StridedSliceSchema() {
  using ir::AttributeType;
  ir::OpSchema schema =
      IndexMapSchema("StridedSlice",
                     {{.name = kBegin, .type = AttributeType::kInts},
                      {.name = kEnd, .type = AttributeType::kInts},
                      {.name = kStride, .type = AttributeType::kInts},
                      {kBeginMask, AttributeType::kInt, int64_t{0}},
                      {kEndMask, AttributeType::kInt, int64_t{0}},
                      {kShrinkMask, AttributeType::kInt, int64_t{0}},
                      {kNewAxisMask, AttributeType::kInt, int64_t{0}}},
                     InferStridedSlice, StridedSliceMap);
  schema.doubts = FindDoubts;
  schema.surplus_inputs = 4;  // ONNX: starts, ends, axes, steps
  schema.permute_rule = PermuteStridedSlice;
  schema.vjp = StridedSliceVjp;
  return schema;
}

}  // namespace

Result<std::vector<SlicedRange>> SlicedRangesOf(
    const ir::AttributeMap& attributes, const ir::Shape& input,
    const ir::Shape& output) {
  TIM_ASSIGN_OR_RETURN(const auto axes, SlicedAxes(attributes, input));
  TIM_RETURN_IF_ERROR(CheckOutput(axes, input, output));
  std::vector<SlicedRange> out(input.rank());
  if (IsWholeInput(axes, input, output)) {
    for (int axis = 0; axis < input.rank(); ++axis) {
      out[axis].count = input[axis];
    }
    return out;
  }
  const std::vector<int> places = *OutputAxes(axes, output);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].input == kNoAxis) continue;
    out[axes[i].input] = {
        .begin = axes[i].begin,
        .stride = axes[i].stride,
        .count = places[i] == kNoAxis ? 1 : output[places[i]]};
  }
  return out;
}

TIM_OPERATOR(strided_slice) {
  registry.Add(StridedSliceSchema());
  registry.Add(IndexMapKernel("StridedSlice", StridedSliceMap));
}

}  // namespace tim::ops
