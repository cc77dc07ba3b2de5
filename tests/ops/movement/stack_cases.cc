#include "tests/properties/families/movement_cases.h"
#include "tim/vx/ops/stack.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<std::string> kTypes = {
    "f32,f32>f32", "f16,f16>f16",   "u8a,u8a>u8a", "i8a,i8a>i8a",
    "u8a,f32>u8a", "i32,i32>i32",   "b8,b8>b8",    "i16d,i16a>i16d",
    "f32,f16>f32", "i64,i64>i64",   "u8,u8>u8",    "u4a,u4a>u4a",
    "f64,f64>f64", "bf16,f32>bf16", "u8a,u8a>f32", "i8c,i8c>i8c",
};

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const Ints shape = rng.Shape(1, 4, 5000);
  const int64_t count = rng.Int(1, 4);
  const auto rank = static_cast<int64_t>(shape.size()) + 1;
  const int64_t axis = rng.Axis(static_cast<int>(rank));
  Ints output = shape;
  output.insert(output.begin() + (axis < 0 ? axis + rank : axis), count);
  NodeCase node = {.op = "tim.Stack",
                   .attributes = {{"axis", axis}, {"input_cnt", count}},
                   .outputs = {rng.Desc(types.outputs[0], output)}};
  for (int64_t i = 0; i < count; ++i) {
    node.inputs.push_back(rng.Desc(types.inputs[i % 2], shape));
  }
  const bool channels = node.outputs[0].quantization.per_channel();
  if (!channels && rng.OneIn(2)) {
    // Of equal elements, which may lie in the output as they are.
    for (auto& input : node.inputs) {
      input->type = node.outputs[0].type;
      input->quantization = node.outputs[0].quantization;
    }
  }
  return node;
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = [](Ints dims) {
    return Desc(ir::DataType::kFloat32, std::move(dims));
  };
  const auto node = [&](Ints a, Ints b, int64_t axis, int64_t count) {
    return NodeCase{.op = "tim.Stack",
                    .attributes = {{"axis", axis}, {"input_cnt", count}},
                    .inputs = {f32(std::move(a)), f32(std::move(b))},
                    .outputs = {f32({4, 3, 2})}};
  };
  NodeCase other = node({4, 3}, {4, 3}, 0, 2);
  other.attributes.Set("no_such_name", 1.0);
  return {{node({4, 3}, {4}, 0, 2), "differs from the inputs before it"},
          {node({4, 3}, {3, 4}, 0, 2), "differs from the inputs before it"},
          {node({4, 3}, {4, 3}, 3, 2), "is outside"},
          {node({4, 3}, {4, 3}, 0, 0), "attribute 'input_cnt' is 0"},
          {node({4, 3}, {4, 3}, 0, 1), "at most 1 are taken"},
          {node({4, 3}, {4, 3}, 0, 3), "input 2 is not bound"},
          {other, "has no attribute 'no_such_name'"}};
}

}  // namespace

TIM_CASES(stack) {
  cases.Add({.op = "tim.Stack",
             .legal = Legal,
             .illegal = Illegal,
             .flops = FlopsPerMoved,
             .shells = {ShellOf<vx::ops::Stack>(
                 {{"axis", int64_t{1}}, {"input_cnt", int64_t{3}}}, 1u, 3)},
             .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
