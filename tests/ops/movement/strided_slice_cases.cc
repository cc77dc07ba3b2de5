#include "tests/properties/families/movement_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/stridedslice.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

struct Spec {
  Ints begin;
  Ints end;
  Ints stride;
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t shrink_mask = 0;
  int64_t new_mask = 0;
};

ir::AttributeMap AttributesOf(const Spec& spec) {
  return {
      {"begin_dims", spec.begin},      {"end_dims", spec.end},
      {"stride_dims", spec.stride},    {"begin_mask", spec.begin_mask},
      {"end_mask", spec.end_mask},     {"shrink_axis_mask", spec.shrink_mask},
      {"new_axis_mask", spec.new_mask}};
}

// Appends an axis that takes `count` elements from `first` on; masks and
// numbers say the same in one of their ways.
int64_t AddAxis(int64_t extent, CaseRng& rng, Spec* spec) {
  const auto bit = int64_t{1} << spec->begin.size();
  const int64_t stride = rng.Pick(Ints{1, 2, 3, -1, -2});
  const bool from_start = rng.OneIn(4);
  const bool to_end = rng.OneIn(4);
  const int64_t first =
      from_start ? (stride > 0 ? 0 : extent - 1) : rng.Int(0, extent - 1);
  const int64_t room =
      (stride > 0 ? (extent - 1 - first) / stride : first / -stride) + 1;
  const int64_t count = to_end ? room : rng.Int(1, room);
  const int64_t last = first + (count - 1) * stride;
  int64_t end = last + (stride > 0 ? 1 : -1);
  if (end < 0) end = -extent - 1;  // from the end, still before the first
  if (end < extent && end > 0 && rng.OneIn(3)) end -= extent;
  spec->begin.push_back(from_start     ? rng.Int(-50, 50)
                        : rng.OneIn(3) ? first - extent
                                       : first);
  spec->end.push_back(to_end ? rng.Int(-50, 50) : end);
  spec->stride.push_back(stride);
  if (from_start) spec->begin_mask |= bit;
  if (to_end) spec->end_mask |= bit;
  return count;
}

NodeCase Legal(CaseRng& rng) {
  const Ints shape = rng.Shape(1, 5);
  Spec spec;
  Ints output;
  for (const int64_t extent : shape) {
    if (rng.OneIn(6)) {
      spec.new_mask |= int64_t{1} << spec.begin.size();
      spec.begin.push_back(rng.Int(-5, 5));
      spec.end.push_back(rng.Int(-5, 5));
      spec.stride.push_back(1);
      output.push_back(1);
    }
    const int64_t count = AddAxis(extent, rng, &spec);
    if (rng.OneIn(4)) {
      spec.shrink_mask |= int64_t{1} << (spec.begin.size() - 1);
    } else {
      output.push_back(count);
    }
  }
  const bool ends_matter = !rng.OneIn(4) || output.empty();
  // Those of a declared output do not.
  if (!ends_matter) spec.end = spec.begin;
  if (output.empty()) output.push_back(1);
  NodeCase node =
      MovedNode("tim.StridedSlice", AttributesOf(spec), shape, output, rng);
  node.declared = {!ends_matter};
  return node;
}

std::vector<IllegalCase> Illegal() {
  const auto node = [](Spec spec) {
    return MovedFloats("tim.StridedSlice", AttributesOf(spec), {4, 3}, {2, 3});
  };
  const Spec plain = {{0, 0}, {2, 3}, {1, 1}};
  std::vector<IllegalCase> out = IllegalOperands(node(plain));
  out.push_back({node({{0, 0}, {2, 3}, {0, 1}}), "'stride_dims' is 0"});
  out.push_back({node({{0, 0}, {2}, {1, 1}}), "'end_dims' has 1 values"});
  out.push_back(
      {node({{0, 0, 0}, {1, 1, 1}, {1, 1, 1}}), "more than the input"});
  out.push_back({node({{2, 0}, {2, 3}, {1, 1}}), "nothing is left"});
  out.push_back({node({.begin = {4, 0},
                       .end = {0, 3},
                       .stride = {1, 1},
                       .shrink_mask = 1}),
                 "outside of the extent 4"});
  out.push_back({node({{3, 0}, {4, 3}, {1, 1}}), "outside of the input's"});
  out.back().node.declared = {true};
  out.push_back({node(plain), "another rank"});
  out.back().node.outputs[0].shape = ir::Shape({5, 1, 1});
  out.back().node.declared = {true};
  return out;
}

}  // namespace

TIM_CASES(strided_slice) {
  using vx::ops::StridedSlice;
  const std::vector<int32_t> begin = {0, 1}, end = {2, 3}, stride = {1, 2};
  Spec spec = {{0, 1}, {2, 3}, {1, 2}, 1, 2, 3, 0};
  const ir::AttributeMap plain = AttributesOf(spec);
  spec.new_mask = 4;
  cases.Add(
      {.op = "tim.StridedSlice",
       .legal = Legal,
       .illegal = Illegal,
       .flops = FlopsPerMoved,
       .shells = {ShellOf<StridedSlice>(plain, begin, end, stride, 1, 2, 3),
                  ShellOf<StridedSlice>(AttributesOf(spec), begin, end, stride,
                                        1, 2, 3, 4)},
       .permute_rule = PermuteRule::kPartial});
}

}  // namespace tim::testing
