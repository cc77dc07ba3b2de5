// Works out begins, ends and masks of slices.
#include "models/tflite/slice_plan.h"

#include <algorithm>
#include <cstdlib>

#include "base/checked_math.h"

namespace tim::models::tflite {
namespace {

bool HasBit(int32_t mask, size_t bit) { return ((mask >> bit) & 1) != 0; }

struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t stride = 1;
  bool has_begin = true;
  bool has_end = true;
};

// Python's rule: negative numbers count from the end, then both are clamped.
Status AddRange(Node& node, const Range& range, int64_t extent,
                SlicePlan* plan) {
  const bool is_forward = range.stride > 0;
  const int64_t low = is_forward ? 0 : -1;
  const int64_t high = is_forward ? extent : extent - 1;
  const auto placed = [&](int64_t index) {
    return std::clamp(index < 0 ? index + extent : index, low, high);
  };
  const int64_t begin =
      range.has_begin ? placed(range.begin) : (is_forward ? low : high);
  const int64_t end =
      range.has_end ? placed(range.end) : (is_forward ? high : low);
  const int64_t length = is_forward ? end - begin : begin - end;
  if (length <= 0) {
    return node.Refuse("begin and end", "axis ", plan->counts.size(),
                       " of extent ", extent, " from ", range.begin, " to ",
                       range.end, " by ", range.stride, " has no element");
  }
  const int64_t step = std::abs(range.stride);
  const int64_t count = (length - 1) / step + 1;
  plan->begins.push_back(begin);
  plan->strides.push_back(count == 1 ? 1 : range.stride);
  plan->counts.push_back(count);
  return OkStatus();
}

struct Lists {
  std::vector<int64_t> begins;
  std::vector<int64_t> ends;
  std::vector<int64_t> strides;
};

Result<Lists> ListsOf(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(4, 4));
  Lists lists;
  TIM_ASSIGN_OR_RETURN(lists.begins, node.ConstantInts(1));
  TIM_ASSIGN_OR_RETURN(lists.ends, node.ConstantInts(2));
  TIM_ASSIGN_OR_RETURN(lists.strides, node.ConstantInts(3));
  if (lists.ends.size() != lists.begins.size() ||
      lists.strides.size() != lists.begins.size() || lists.begins.size() > 16) {
    return node.Refuse("begin, end and strides", "they have ",
                       lists.begins.size(), ", ", lists.ends.size(), " and ",
                       lists.strides.size(), " values");
  }
  return lists;
}

}  // namespace

Result<SlicePlan> PlanStridedSlice(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Lists lists, ListsOf(node));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::StridedSlice>());
  const Dims& from = node.inputs[0].dims;
  const int32_t ellipsis = options->ellipsis_mask();
  // Later masks say nothing of the place of an ellipsis, and only one may be.
  if ((ellipsis & (ellipsis - 1)) != 0) {
    return node.Refuse("ellipsis_mask", "it is ", ellipsis, ", two ellipses");
  }
  size_t named = 0;  // axes of the input that the lists name
  for (size_t i = 0; i < lists.begins.size(); ++i) {
    if (!HasBit(ellipsis, i) && !HasBit(options->new_axis_mask(), i)) ++named;
  }
  if (named > from.size()) {
    return node.Refuse("begin", named, " axes of ", Describe(node.inputs[0]));
  }
  SlicePlan plan;
  const auto take_whole = [&] {
    const int64_t extent = from[plan.counts.size()];
    plan.begins.push_back(0);
    plan.strides.push_back(1);
    plan.dims.push_back(extent);
    plan.counts.push_back(extent);
  };
  for (size_t i = 0; i < lists.begins.size(); ++i) {
    if (HasBit(ellipsis, i)) {
      for (size_t j = named; j < from.size(); ++j) take_whole();
      continue;
    }
    if (HasBit(options->new_axis_mask(), i)) {
      plan.dims.push_back(1);
      continue;
    }
    const int64_t extent = from[plan.counts.size()];
    Range range = {lists.begins[i], lists.ends[i], lists.strides[i],
                   !HasBit(options->begin_mask(), i),
                   !HasBit(options->end_mask(), i)};
    if (range.stride == 0 || range.stride > INT32_MAX ||
        range.stride < -INT32_MAX) {
      return node.Refuse("strides", "stride ", range.stride);
    }
    if (options->end_is_offset()) {
      const auto end = CheckedAdd(range.begin, range.end);
      if (!end) return node.Refuse("end", "end ", range.end);
      range.end = *end;
    }
    if (HasBit(options->shrink_mask(), i)) {
      const int64_t index =
          range.begin < 0 ? range.begin + extent : range.begin;
      if (index < 0 || index >= extent) {
        return node.Refuse("begin", "element ", range.begin, " of extent ",
                           extent);
      }
      plan.begins.push_back(index);
      plan.strides.push_back(1);
      plan.counts.push_back(1);
      continue;
    }
    TIM_RETURN_IF_ERROR(AddRange(node, range, extent, &plan));
    plan.dims.push_back(plan.counts.back());
  }
  while (plan.counts.size() < from.size()) take_whole();
  return plan;
}

Result<bool> IsEmptySlice(Node& node, Dims* dims) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 3));
  TIM_ASSIGN_OR_RETURN(const auto begins, node.ConstantInts(1));
  TIM_ASSIGN_OR_RETURN(const auto sizes, node.ConstantInts(2));
  *dims = node.inputs[0].dims;
  if (begins.size() != dims->size() || sizes.size() != dims->size()) {
    return false;
  }
  bool is_empty = false;
  for (size_t i = 0; i < dims->size(); ++i) {
    int64_t& extent = (*dims)[i];
    const int64_t begin = begins[i];
    if (begin < 0 || begin > extent || sizes[i] < -1 ||
        sizes[i] > extent - begin) {
      return false;
    }
    extent = sizes[i] == -1 ? extent - begin : sizes[i];
    is_empty = is_empty || extent == 0;
  }
  return is_empty;
}

Result<SlicePlan> PlanSlice(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 3));
  TIM_ASSIGN_OR_RETURN(const auto begins, node.ConstantInts(1));
  TIM_ASSIGN_OR_RETURN(const auto sizes, node.ConstantInts(2));
  const Dims& from = node.inputs[0].dims;
  if (begins.size() != from.size() || sizes.size() != from.size()) {
    return node.Refuse("input 1", begins.size(), " begins and ", sizes.size(),
                       " sizes of ", Describe(node.inputs[0]));
  }
  SlicePlan plan;
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t begin = begins[i];
    const bool is_inside = begin >= 0 && begin <= from[i];
    const int64_t most = is_inside ? from[i] - begin : 0;
    const int64_t count = sizes[i] == -1 ? most : sizes[i];
    if (!is_inside || count < 1 || count > most) {
      return node.Refuse("input 1", "axis ", i, " from ", begin, ", ", sizes[i],
                         " elements of ", from[i]);
    }
    plan.begins.push_back(begin);
    plan.strides.push_back(1);
    plan.counts.push_back(count);
  }
  plan.dims = plan.counts;
  return plan;
}

}  // namespace tim::models::tflite
