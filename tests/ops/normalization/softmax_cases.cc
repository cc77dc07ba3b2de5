#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/softmax.h"

namespace tim::testing {
namespace {

const std::vector<std::string> kTypes = {
    "f32>f32",   "f16>f16", "u8a>u8a", "i8a>i8a",   "i16d>i16d",
    "u8a>f32",   "f32>u8a", "f16>f32", "i16a>i16a", "i32>f32",
    "bf16>bf16", "f64>f32", "i8c>f32", "u4a>u8a",
};

NodeCase Legal(CaseRng& rng) {
  NodeCase node = UnaryNode("tim.Softmax", kTypes, rng);
  node.attributes = {{"beta", rng.Pick<double>({1.0, 0.5, 2.0, 0.0, -1.0})},
                     {"axis", rng.Axis(node.outputs[0].shape.rank())}};
  return node;
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = Desc(ir::DataType::kFloat32, {4, 3});
  const NodeCase legal = {.op = "tim.Softmax",
                          .attributes = {{"beta", 1.0}, {"axis", int64_t{0}}},
                          .inputs = {f32},
                          .outputs = {f32}};
  std::vector<IllegalCase> out = IllegalOperands(legal);
  for (const int64_t axis : {int64_t{2}, int64_t{-3}}) {
    out.push_back({legal, "is outside"});
    out.back().node.attributes.Set("axis", axis);
  }
  out.push_back({legal, "beta"});
  out.back().node.attributes = {{"axis", int64_t{0}}};
  out.push_back({legal, "the input is bool8"});
  out.back().node.inputs[0] = Desc(ir::DataType::kBool8, {4, 3});
  return out;
}

}  // namespace

TIM_CASES(softmax) {
  cases.Add({.op = "tim.Softmax",
             .legal = Legal,
             .illegal = Illegal,
             // Two powers, made of many operations; roughly counted.
             .flops = FlopsPerElement(100),
             .flops_factor = 2,
             .shells = {ShellOf<vx::ops::Softmax>(
                 {{"beta", 0.5}, {"axis", int64_t{-1}}}, 0.5f, -1)},
             .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
