#include "tests/ops/elementwise/broadcast_cases.h"
#include "tim/vx/ops/select.h"

namespace tim::testing {
namespace {

namespace ops = vx::ops;
using ir::DataType;

const std::vector<std::string>& Types() {
  static const auto* const types = new std::vector<std::string>{
      "b8,f32,f32>f32",    "b8,u8a,u8a>u8a",    "i8,i32,i32>i32",
      "b8,f16,f16>f16",    "b8,i8a,i8a>i8a",    "b8,b8,b8>b8",
      "b8,i8d,i8d>i8d",    "b8,i16a,i16a>i16a", "b8,i64,i64>i64",
      "b8,u8a,f32>f32",    "b8,f32,u8a>u8a",    "b8,i16d,i16d>i16d",
      "i8,f16,f32>f32",    "b8,u4a,u4a>u4a",    "b8,i8c,f32>f32",
      "b8,f64,f64>f64",    "b8,i32,f32>i32",    "b8,bf16,f32>f32",
      "b8,i32a,i32a>i32a", "b8,u8,i8>i16",
  };
  return *types;
}

NodeCase LegalSelect(CaseRng& rng) {
  NodeCase node = BroadcastNode("tim.Select", Types(), rng);
  // The same quantization: codes are copied.
  for (int i = 1; i < 3; ++i) {
    auto& input = *node.inputs[i];
    if (input.type != node.outputs[0].type || !rng.OneIn(2)) continue;
    input.quantization = node.outputs[0].quantization;
  }
  return node;
}

std::vector<IllegalCase> IllegalSelect() {
  const auto f32 = Desc(DataType::kFloat32, {4});
  const NodeCase node = {.op = "tim.Select",
                         .inputs = {Desc(DataType::kBool8, {4}), f32, f32},
                         .outputs = {f32}};
  auto out = IllegalShapes(node);
  out.push_back(WithInput(node, 0, DataType::kFloat32));
  out.push_back(WithInput(node, 0, DataType::kUint8));
  return out;
}

}  // namespace

TIM_CASES(select) {
  cases.Add({.op = "tim.Select",
             .legal = LegalSelect,
             .illegal = IllegalSelect,
             .flops = FlopsPerElement(1),
             .shells = {ShellOf<ops::Select>({})},
             .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
