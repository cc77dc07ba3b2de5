#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::testing {
namespace {

const std::vector<std::string> kTypes = {
    "f32>u8a", "u8a>f32",  "f32>f16",  "i8a>u8a",  "u8a>u8a",
    "f16>i8d", "i16a>f32", "f32>f32",  "u8a>i16a", "i8d>f16",
    "i32>f32", "f32>i32",  "f32>bf16", "f64>f32",  "u4a>f32",
    "f32>i4a", "i8c>f32",  "f32>i8c",  "i8c>i8c",  "b8>f32",
    "i64>i64", "u16a>u8a", "i16d>i8a", "u64>u64",  "i32a>u8a",
};

std::vector<IllegalCase> Illegal() {
  const auto f32 = Desc(ir::DataType::kFloat32, {4});
  const NodeCase legal = {
      .op = "tim.DataConvert", .inputs = {f32}, .outputs = {f32}};
  std::vector<IllegalCase> out = IllegalOperands(legal);
  out.push_back({legal, "input 0 has no data type"});
  out.back().node.inputs[0] = Desc(ir::DataType::kUnknown, {4});
  return out;
}

}  // namespace

TIM_CASES(data_convert) {
  cases.Add({.op = "tim.DataConvert",
             .legal =
                 [](CaseRng& rng) {
                   return UnaryNode("tim.DataConvert", kTypes, rng);
                 },
             .illegal = Illegal,
             .flops = FlopsPerElement(1),
             .shells = {ShellOf<vx::ops::DataConvert>({}),
                        ShellOf<vx::ops::DataConvert>(
                            {{"foldable", true}},
                            vx::ops::DataConvert::Folding::ALLOWED)},
             .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
