#include "tests/ops/elementwise/broadcast_cases.h"
#include "tim/vx/ops/addn.h"

namespace tim::testing {
namespace {

namespace ops = vx::ops;
using ir::DataType;

// Those that every Add has a kernel for.
const std::vector<std::string>& Types() {
  static const auto* const types = new std::vector<std::string>{
      "f32,f32,f32>f32",     "u8a,u8a,u8a>u8a",     "i32,i32>i32",
      "f16,f16,f16,f16>f16", "i8a,i8a>i8a",         "i8d,i8d,i8d>i8d",
      "i16a,i16a,i16a>i16a", "u8a,f32,i32>u8a",     "i64,i64,i64>i64",
      "i16,i32,u8>i32",      "i16d,i16d,i16d>i16d", "f32,u8a>f32",
      "i32,i32,i32>f32",     "i32a,f32,u8a>i32a",   "u8,u8,u8,u8,u8>u8",
  };
  return *types;
}

NodeCase LegalAddn(CaseRng& rng) {
  NodeCase node = BroadcastNode("tim.AddN", Types(), rng);
  const auto count = static_cast<int64_t>(node.inputs.size());
  node.attributes.Set("num_inputs", count + rng.Int(0, 1));
  if (rng.OneIn(4)) {  // a placeholder
    node.inputs.insert(node.inputs.begin() + rng.Int(0, count - 1),
                       std::nullopt);
    node.attributes.Set("num_inputs", count + 1);
  }
  if (rng.OneIn(4)) node.attributes.Set("overflow_policy", rng.Int(0, 1));
  if (rng.OneIn(4)) node.attributes.Set("rounding_policy", rng.Int(0, 1));
  return node;
}

std::vector<IllegalCase> IllegalAddn() {
  const auto f32 = Desc(DataType::kFloat32, {4});
  const NodeCase node = {.op = "tim.AddN",
                         .attributes = {{"num_inputs", 2}},
                         .inputs = {f32, f32},
                         .outputs = {f32}};
  auto out = IllegalShapes(node);
  out[0].word = "0 inputs are bound, expected at least 2";
  out.push_back({node, "1 inputs are bound, expected at least 2"});
  out.back().node.inputs.pop_back();
  out.push_back({node, "num_inputs is 1"});
  out.back().node.attributes.Set("num_inputs", 1);
  for (int i = 0; i < 2; ++i) {
    out.push_back(WithInput(node, i, DataType::kBool8));
  }
  out.push_back(WithOutput(node, DataType::kBool8));
  return out;
}

double AddnFlops(const NodeCase& node) {
  double terms = 0;
  for (const auto& input : node.inputs) terms += input.has_value();
  return (terms - 1) *
         static_cast<double>(*node.outputs[0].shape.NumElements());
}

}  // namespace

TIM_CASES(addn) {
  cases.Add({.op = "tim.AddN",
             .legal = LegalAddn,
             .illegal = IllegalAddn,
             .flops = AddnFlops,
             .shells = {ShellOf<ops::AddN>({{"num_inputs", 3}}, 3u)},
             .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
