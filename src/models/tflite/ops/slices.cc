// Parts of tensors: slices, splits and reversed axes.
#include <numeric>

#include "models/tflite/node.h"
#include "models/tflite/slice_plan.h"
#include "tim/vx/ops/reverse.h"
#include "tim/vx/ops/split.h"
#include "tim/vx/ops/stridedslice.h"
#include "tim/vx/ops/unstack.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;

// A plan has no masks but for ends: where a negative stride reaches element 0
// no number says so.
Status Emit(Node& node, const SlicePlan& plan) {
  const size_t rank = plan.counts.size();
  if (rank == 0) {
    return node.SetOutput(0, node.builder().Reshape(node.inputs[0], plan.dims));
  }
  std::vector<int32_t> begins(rank);
  std::vector<int32_t> ends(rank);
  std::vector<int32_t> strides(rank);
  int32_t end_mask = 0;
  for (size_t i = 0; i < rank; ++i) {
    const size_t to = rank - 1 - i;
    const int64_t last =
        plan.begins[i] + (plan.counts[i] - 1) * plan.strides[i];
    begins[to] = static_cast<int32_t>(plan.begins[i]);
    strides[to] = static_cast<int32_t>(plan.strides[i]);
    if (plan.strides[i] > 0) {
      ends[to] = static_cast<int32_t>(last + 1);
    } else if (last > 0) {
      ends[to] = static_cast<int32_t>(last - 1);
    } else {
      end_mask |= 1 << to;
    }
  }
  TIM_ASSIGN_OR_RETURN(const Value part,
                       node.builder().Add<ops::StridedSlice>(
                           {node.inputs[0]}, node.WantedOf(0), begins, ends,
                           strides, 0, end_mask, 0));
  return node.SetOutput(0, node.builder().Reshape(part, plan.dims));
}

Status StridedSlice(Node& node) {
  TIM_ASSIGN_OR_RETURN(const SlicePlan plan, PlanStridedSlice(node));
  return Emit(node, plan);
}

Status Slice(Node& node) {
  Dims dims;
  TIM_ASSIGN_OR_RETURN(const bool is_empty, IsEmptySlice(node, &dims));
  if (is_empty) {
    // CONCATENATION drops it; no tensor is made of it.
    HostArray nothing;
    nothing.type = node.inputs[0].type;
    nothing.dims = dims;
    nothing.data = std::make_shared<const int64_t>(0);
    return node.SetOutput(0,
                          node.builder().Constant(std::move(nothing), "",
                                                  node.inputs[0].quantization));
  }
  TIM_ASSIGN_OR_RETURN(const SlicePlan plan, PlanSlice(node));
  return Emit(node, plan);
}

// Consecutive parts of `input` along an axis, one per output.
Status Cut(Node& node, const Value& input, int axis,
           const std::vector<uint32_t>& sizes) {
  std::vector<Wanted> wanted;
  for (size_t i = 0; i < sizes.size(); ++i) wanted.push_back(node.WantedOf(i));
  TIM_ASSIGN_OR_RETURN(
      auto made,
      node.builder().AddAll<ops::Split>(
          {input}, wanted, static_cast<uint32_t>(GraphAxis(axis, input.rank())),
          sizes));
  for (size_t i = 0; i < sizes.size(); ++i) {
    TIM_RETURN_IF_ERROR(node.SetOutput(i, std::move(made[i])));
  }
  return OkStatus();
}

Status Split(Node& node) {
  const size_t count = node.declared.size();
  TIM_RETURN_IF_ERROR(node.Expect(2, 2, count));
  const Value& input = node.inputs[1];
  TIM_ASSIGN_OR_RETURN(const int64_t listed, node.ConstantInt(0));
  TIM_ASSIGN_OR_RETURN(const int axis,
                       node.Axis("input 0", listed, input.rank()));
  const auto parts = static_cast<int64_t>(count);
  if (parts == 0 || input.dims[axis] % parts != 0) {
    return node.Refuse("num_splits", parts, " parts of axis ", axis, " of ",
                       Describe(input));
  }
  return Cut(node, input, axis,
             std::vector<uint32_t>(
                 count, static_cast<uint32_t>(input.dims[axis] / parts)));
}

Status SplitV(Node& node) {
  const size_t count = node.declared.size();
  TIM_RETURN_IF_ERROR(node.Expect(3, 3, count));
  const Value& input = node.inputs[0];
  TIM_ASSIGN_OR_RETURN(auto sizes, node.ConstantInts(1));
  TIM_ASSIGN_OR_RETURN(const int64_t listed, node.ConstantInt(2));
  TIM_ASSIGN_OR_RETURN(const int axis,
                       node.Axis("input 2", listed, input.rank()));
  int64_t rest = input.dims[axis];
  int64_t* open = nullptr;
  bool fits = sizes.size() == count;
  for (int64_t& size : sizes) {
    if (size == -1 && open == nullptr) {
      open = &size;
    } else if (size < 1 || size > rest) {
      fits = false;
    } else {
      rest -= size;
    }
  }
  if (open != nullptr) {
    *open = rest;
    fits = fits && rest >= 1;
    rest = 0;
  }
  if (!fits || rest != 0) {
    return node.Refuse("input 1", "parts of [", StrJoin(sizes, ","),
                       "] of axis ", axis, " of ", Describe(input));
  }
  return Cut(node, input, axis, {sizes.begin(), sizes.end()});
}

Status Unpack(Node& node) {
  const size_t count = node.declared.size();
  TIM_RETURN_IF_ERROR(node.Expect(1, 1, count));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Unpack>());
  const Value& input = node.inputs[0];
  TIM_ASSIGN_OR_RETURN(const int axis,
                       node.Axis("axis", options->axis(), input.rank()));
  if (input.dims[axis] != static_cast<int64_t>(count)) {
    return node.Refuse("num", count, " slices of axis ", axis, " of ",
                       Describe(input));
  }
  Dims dims = input.dims;
  dims.erase(dims.begin() + axis);
  std::vector<Wanted> wanted;
  for (size_t i = 0; i < count; ++i) wanted.push_back(node.WantedOf(i, dims));
  TIM_ASSIGN_OR_RETURN(auto made,
                       node.builder().AddAll<ops::Unstack>(
                           {input}, wanted, GraphAxis(axis, input.rank()),
                           static_cast<uint32_t>(count)));
  for (size_t i = 0; i < count; ++i) {
    TIM_RETURN_IF_ERROR(node.SetOutput(i, std::move(made[i])));
  }
  return OkStatus();
}

Status Reverse(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_ASSIGN_OR_RETURN(const auto listed, node.ConstantInts(1));
  const int rank = node.inputs[0].rank();
  std::vector<int32_t> axes;
  for (const int64_t axis : listed) {
    TIM_ASSIGN_OR_RETURN(const int positive, node.Axis("input 1", axis, rank));
    axes.push_back(GraphAxis(positive, rank));
  }
  return node.SetOutput(0, node.builder().Add<ops::Reverse>(
                               {node.inputs[0]}, node.WantedOf(0), axes));
}

}  // namespace

void AddSlices(OperatorTable* table) {
  OperatorTable& to = *table;
  to["STRIDED_SLICE"] = StridedSlice;
  to["SLICE"] = Slice;
  to["SPLIT"] = Split;
  to["SPLIT_V"] = SplitV;
  to["UNPACK"] = Unpack;
  to["REVERSE_V2"] = Reverse;
}

}  // namespace tim::models::tflite
