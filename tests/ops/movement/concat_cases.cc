#include "tests/properties/operator_cases.h"
#include "tim/vx/ops/concat.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<std::string> kTypes = {
    "f32,f32>f32",   "f16,f16>f16", "u8a,u8a>u8a", "i8a,i8a>i8a",
    "u8a,f32>u8a",   "i32,i32>i32", "b8,b8>b8",    "i16d,i16a>i16d",
    "f32,f16>f32",   "i64,i64>i64", "u8,u8>u8",    "u4a,u4a>u4a",
    "bf16,f32>bf16", "u8a,u8a>f32",
};

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const Ints shape = rng.Shape(1, 5, 6000);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = rng.Axis(static_cast<int>(rank));
  const int64_t at = axis < 0 ? axis + rank : axis;
  const int64_t count = rng.Int(1, 4);
  NodeCase node = {.op = "tim.Concat",
                   .attributes = {{"axis", axis}, {"input_cnt", count}}};
  Ints output = shape;
  output[at] = 0;
  for (int64_t i = 0; i < count; ++i) {
    Ints part = shape;
    part[at] = i == 0 ? shape[at] : rng.Extent(17);
    output[at] += part[at];
    node.inputs.push_back(rng.Desc(types.inputs[i % 2], part));
  }
  node.outputs = {rng.Desc(types.outputs[0], output)};
  if (rng.OneIn(2)) {
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
    return NodeCase{.op = "tim.Concat",
                    .attributes = {{"axis", axis}, {"input_cnt", count}},
                    .inputs = {f32(std::move(a)), f32(std::move(b))},
                    .outputs = {f32({4, 5})}};
  };
  NodeCase declared = node({4, 3}, {4, 2}, 1, 2);
  declared.outputs = {f32({5, 4})};
  declared.declared = {true};
  return {{node({4, 3}, {4}, 0, 2), "has another rank"},
          {node({4, 3}, {5, 3}, 1, 2), "differs along axis 0"},
          {node({4, 3}, {4, 3}, 2, 2), "is outside"},
          {node({4, 3}, {4, 3}, 1, 0), "attribute 'input_cnt' is 0"},
          {node({4, 3}, {4, 3}, 1, 1), "at most 1 are taken"},
          {declared, "is declared as [5, 4]"}};
}

}  // namespace

TIM_CASES(concat) {
  cases.Add({.op = "tim.Concat",
             .legal = Legal,
             .illegal = Illegal,
             .flops = FlopsPerElement(1),
             .shells = {ShellOf<vx::ops::Concat>(
                 {{"axis", int64_t{1}}, {"input_cnt", int64_t{3}}}, 1u, 3)},
             .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
