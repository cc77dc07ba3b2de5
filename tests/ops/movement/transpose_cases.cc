#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/transpose.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<std::string> kTypes = {
    "f32>f32", "f16>f16", "u8a>u8a",  "i8a>i8a",   "i32>i32",
    "u8a>f32", "i64>i64", "f32>u8a",  "i16d>i16d", "b8>b8",
    "u8>u8",   "u4a>u4a", "bf16>f32", "i16a>i8a",
};

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const Ints shape = rng.Shape(1, 6);
  const auto axes = rng.Permutation(static_cast<int>(shape.size()));
  const Ints perm(axes.begin(), axes.end());
  Ints output;
  for (const int axis : axes) output.push_back(shape[axis]);
  return {.op = "tim.Transpose",
          .attributes = {{"perm", perm}},
          .inputs = {rng.Desc(types.inputs[0], shape)},
          .outputs = {rng.Desc(types.outputs[0], output)}};
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = Desc(ir::DataType::kFloat32, {4, 3});
  const auto node = [&](Ints perm) {
    return NodeCase{.op = "tim.Transpose",
                    .attributes = {{"perm", std::move(perm)}},
                    .inputs = {f32},
                    .outputs = {f32}};
  };
  std::vector<IllegalCase> out = IllegalOperands(node({0, 1}));
  out.push_back({node({0, 0}), "is not a permutation"});
  out.push_back({node({0, 2}), "is not a permutation"});
  out.push_back({node({0, 1, 2}), "has 3 axes"});
  return out;
}

}  // namespace

TIM_CASES(transpose) {
  cases.Add({.op = "tim.Transpose",
             .legal = Legal,
             .illegal = Illegal,
             .flops = FlopsPerElement(1),
             .shells = {ShellOf<vx::ops::Transpose>(
                 {{"perm", Ints{1, 0}}}, std::vector<uint32_t>{1, 0})},
             .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
