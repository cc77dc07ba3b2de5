#include "tests/properties/families/index_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/onehot.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<std::string> kTypes = {
    "i32>f32", "i32>u8a",  "f32>f16", "u8a>i8a",  "i32>i32",  "i32>u8",
    "i32>i8",  "i32>i16d", "f16>f32", "i64>i16",  "u8>b8",    "i16d>f32",
    "i8>u8a",  "u32>i64",  "i32>u4a", "i32>bf16", "i16a>f64", "u16>i16a",
};

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const Ints indices = rng.Shape(1, 4, 1000);
  const auto rank = static_cast<int64_t>(indices.size());
  const int64_t depth = rng.Extent(40);
  const int64_t axis = rng.Int(0, rank);
  Ints output = indices;
  output.insert(output.begin() + axis, depth);
  NodeCase node = {
      .op = "tim.OneHot",
      .attributes = {{"depth", depth},
                     {"axis", axis == 0 && rng.OneIn(2) ? int64_t{-1} : axis}},
      .inputs = {rng.Desc(types.inputs[0], indices)},
      .outputs = {rng.Desc(types.outputs[0], output)}};
  if (rng.OneIn(2)) {
    node.attributes.Set("on_value", rng.Pick<double>({6, 2.5, -1}));
    node.attributes.Set("off_value", rng.Pick<double>({-1, 0.25, 1000}));
  }
  SetIndices(0, {depth}, &node, rng);
  return node;
}

std::vector<IllegalCase> Illegal() {
  const auto node = [](int64_t depth, int64_t axis) {
    return NodeCase{.op = "tim.OneHot",
                    .attributes = {{"depth", depth}, {"axis", axis}},
                    .inputs = {Desc(ir::DataType::kInt32, {4})},
                    .outputs = {Desc(ir::DataType::kFloat32, {3, 4})}};
  };
  std::vector<IllegalCase> out = IllegalOperands(node(3, 0));
  out.push_back({node(3, 0), "input 0 is bool8, expected a float"});
  out.back().node.inputs[0]->type = ir::DataType::kBool8;
  out.push_back({node(3, 0), "output 0 is uint64"});
  out.back().node.outputs[0].type = ir::DataType::kUint64;
  out.push_back({node(0, 0), "attribute 'depth' is 0, expected >= 1"});
  out.push_back({node(3, 2), "attribute 'axis' is 2, expected [-1, 2)"});
  out.push_back({node(3, -2), "attribute 'axis' is -2, expected [-1, 2)"});
  out.push_back({node(3, 0), "attribute 'on_value' is not a number"});
  out.back().node.attributes.Set("on_value",
                                 std::numeric_limits<double>::quiet_NaN());
  return out;
}

ir::AttributeMap Attributes(int64_t depth, double on, double off,
                            int64_t axis) {
  return {
      {"depth", depth}, {"on_value", on}, {"off_value", off}, {"axis", axis}};
}

}  // namespace

TIM_CASES(onehot) {
  using vx::ops::OneHot;
  cases.Add(
      {.op = "tim.OneHot",
       .legal = Legal,
       .illegal = Illegal,
       .flops = FlopsPerElement(1),
       .shells = {ShellOf<OneHot>(Attributes(3, 1, 0, 0), 3),
                  ShellOf<OneHot>(Attributes(4, 6, -1, 1), 4, 6.0f, -1.0f, 1)},
       .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
