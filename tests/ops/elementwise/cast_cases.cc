#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::testing {
namespace {

const std::vector<std::string> kTypes = {
    "f32>i32",  "i32>f32", "f32>f16", "u8>f32",  "f32>u8",   "b8>f32",
    "f32>b8",   "i8>i32",  "i32>i8",  "u8a>f32", "f32>f32",  "i64>i32",
    "i16>u16",  "i32>i64", "f16>i8",  "u8a>i8a", "bf16>f32", "f64>f32",
    "f32>bf16", "u32>f32", "i4a>i8",  "b8>i32",  "f32>i64",  "u8>u8",
};

std::vector<IllegalCase> Illegal() {
  const auto f32 = Desc(ir::DataType::kFloat32, {4});
  const auto u64 = Desc(ir::DataType::kUint64, {4});
  const NodeCase legal = {.op = "tim.Cast", .inputs = {f32}, .outputs = {f32}};
  std::vector<IllegalCase> out = IllegalOperands(legal);
  out.push_back({legal, "input 0 is uint64"});
  out.back().node.inputs[0] = u64;
  out.push_back({legal, "output 0 is uint64"});
  out.back().node.outputs[0] = u64;
  return out;
}

}  // namespace

TIM_CASES(cast) {
  cases.Add(
      {.op = "tim.Cast",
       .legal = [](CaseRng& rng) { return UnaryNode("tim.Cast", kTypes, rng); },
       .illegal = Illegal,
       .flops = FlopsPerElement(1),
       .shells = {ShellOf<vx::ops::Cast>({})},
       .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
