#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/cumsum.h"

namespace tim::testing {
namespace {

const std::vector<std::string> kTypes = {
    "f32>f32", "u8a>u8a",   "f16>f16",   "i32>i32",   "u32>u32",
    "i8a>i8a", "i8d>i8d",   "i16a>i16a", "i16d>i16d", "u8a>f32",
    "f32>u8a", "i64>i64",   "i8a>i16a",  "i32a>f32",  "u16a>f16",
    "i32>u8a", "bf16>bf16", "f64>f32",   "u4a>u8a",   "i8c>f32",
};

NodeCase Legal(CaseRng& rng) {
  NodeCase node = UnaryNode("tim.CumSum", kTypes, rng);
  node.attributes = {{"axis", rng.Axis(node.outputs[0].shape.rank())},
                     {"exclusive", rng.Int(0, 1)},
                     {"reverse", rng.Int(0, 1)}};
  return node;
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = Desc(ir::DataType::kFloat32, {4, 3});
  const NodeCase legal = {
      .op = "tim.CumSum", .inputs = {f32}, .outputs = {f32}};
  std::vector<IllegalCase> out = IllegalOperands(legal);
  for (const int64_t axis : {int64_t{2}, int64_t{-3}}) {
    out.push_back({legal, "is outside"});
    out.back().node.attributes.Set("axis", axis);
  }
  out.push_back({legal, "input 0 is bool8"});
  out.back().node.inputs[0] = Desc(ir::DataType::kBool8, {4, 3});
  out.push_back({legal, "output 0 is bool8"});
  out.back().node.outputs[0] = Desc(ir::DataType::kBool8, {4, 3});
  return out;
}

}  // namespace

TIM_CASES(cumsum) {
  using vx::ops::CumSum;
  const auto attributes = [](int64_t axis, int64_t exclusive, int64_t reverse) {
    return ir::AttributeMap{
        {"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}};
  };
  // The order of the sums is that of eval.
  cases.Add({.op = "tim.CumSum",
             .legal = Legal,
             .illegal = Illegal,
             .flops = FlopsPerElement(1),
             .shells = {ShellOf<CumSum>(attributes(0, 0, 0)),
                        ShellOf<CumSum>(attributes(-1, 0, 0), -1),
                        ShellOf<CumSum>(attributes(1, 1, 0), 1, 1),
                        ShellOf<CumSum>(attributes(-1, 1, 2), -1, 1, 2)},
             .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
