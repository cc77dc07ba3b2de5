#include "tests/ops/reduction/reduced_node.h"
#include "tim/vx/ops/moments.h"

namespace tim::testing {
namespace {

const std::vector<std::string> kTypes = {
    "f32>f32",  "u8a>u8a",   "f16>f16",  "i32>f32", "u8a>f32", "i8a>f32",
    "i8d>f16",  "i16a>f32",  "i16d>f32", "f16>f32", "f32>u8a", "i64>f32",
    "u8a>i16a", "bf16>bf16", "f64>f32",  "u4a>u8a", "i8c>f32",
};

std::vector<IllegalCase> Illegal() {
  std::vector<IllegalCase> out = IllegalAxes("tim.Moments", "axes", 2);
  const auto f32 = [](std::vector<int64_t> shape) {
    return Desc(ir::DataType::kFloat32, std::move(shape));
  };
  const NodeCase legal = {.op = "tim.Moments",
                          .attributes = {{"axes", std::vector<int64_t>{0}}},
                          .inputs = {f32({4, 3})},
                          .outputs = {f32({3}), f32({3})}};
  out.push_back({legal, "input 0 is bool8"});
  out.back().node.inputs[0] = Desc(ir::DataType::kBool8, {4, 3});
  for (size_t i = 0; i < 2; ++i) {
    out.push_back({legal, StrCat("output ", i, " is bool8")});
    out.back().node.outputs[i] = Desc(ir::DataType::kBool8, {3});
  }
  return out;
}

}  // namespace

TIM_CASES(moments) {
  using vx::ops::Moments;
  using Axes = std::vector<int64_t>;
  cases.Add(
      {.op = "tim.Moments",
       .legal =
           [](CaseRng& rng) {
             return ReducedNode("tim.Moments", "axes", kTypes, 2, rng);
           },
       .illegal = Illegal,
       // Kernels keep eval's order; permuted nodes have another one.
       .tolerance = {.absolute = 1e-6, .relative = 1e-6},
       .flops = [](const NodeCase& node) { return 4 * FlopsPerInput(node); },
       .shells = {ShellOf<Moments>({{"axes", Axes{0, 1}}, {"keep_dims", false}},
                                   std::vector<int32_t>{0, 1}),
                  ShellOf<Moments>({{"axes", Axes{-1}}, {"keep_dims", true}},
                                   std::vector<int32_t>{-1}, true)},
       .permute_rule = PermuteRule::kPartial});
}

}  // namespace tim::testing
