#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/reshape.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<std::string> kTypes = {
    "f32>f32", "u8a>u8a", "f32>f16", "u8a>f32",  "i8a>i8a",
    "i32>i32", "f32>u8a", "b8>b8",   "i64>i64",  "i16d>i16d",
    "u4a>u4a", "u4a>f32", "u8>u8",   "bf16>f32",
};

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const Ints shape = rng.Shape(1, 5);
  Ints output = shape;
  // Two neighbours become one.
  while (output.size() > 1 && rng.OneIn(2)) {
    const auto at = static_cast<size_t>(
        rng.Int(0, static_cast<int64_t>(output.size()) - 2));
    output[at] *= output[at + 1];
    output.erase(output.begin() + static_cast<int64_t>(at) + 1);
  }
  if (rng.OneIn(2)) output.insert(output.begin(), 1);
  Ints target = output;
  if (target[0] == shape[0] && rng.OneIn(3)) target[0] = 0;  // copied
  if (rng.OneIn(3)) target.back() = -1;                      // inferred
  return {.op = "tim.Reshape",
          .attributes = {{"shape", target}},
          .inputs = {rng.Desc(types.inputs[0], shape)},
          .outputs = {rng.Desc(types.outputs[0], output)}};
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = Desc(ir::DataType::kFloat32, {4, 3});
  const auto node = [&](Ints shape) {
    return NodeCase{.op = "tim.Reshape",
                    .attributes = {{"shape", std::move(shape)}},
                    .inputs = {f32},
                    .outputs = {f32}};
  };
  std::vector<IllegalCase> out = IllegalOperands(node({12}));
  out.push_back({node({5, 3}), "which do not fill [5, 3]"});
  out.push_back({node({5, -1}), "which do not fill"});
  out.push_back({node({-1, -1}), "more than one extent"});
  out.push_back({node({4, 3, 0}), "which has no such dimension"});
  out.push_back({node({-2, 6}), "has an extent of -2"});
  return out;
}

}  // namespace

TIM_CASES(reshape) {
  cases.Add(
      {.op = "tim.Reshape",
       .legal = Legal,
       .illegal = Illegal,
       .flops = FlopsPerElement(1),
       .shells = {ShellOf<vx::ops::Reshape>(
           {{"shape", Ints{2, -1}}}, std::vector<uint32_t>{2, uint32_t(-1)})}});
}

}  // namespace tim::testing
