#include "tests/properties/families/index_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/gather_elements.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<std::string> kTypes = {
    "f32,i32>f32",   "u8a,i32>u8a",   "f16,u8>f16",  "i8a,i32>i8a",
    "i32,i32>i32",   "u8a,i64>f32",   "f32,i32>u8a", "i16d,i16>i16d",
    "i16a,i32>i16a", "i8d,i32>i8d",   "b8,i8>b8",    "i64,f32>i64",
    "u4a,i32>u4a",   "bf16,u32>bf16", "f64,i32>f64", "f32,u8a>f32",
};

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const Ints data = rng.Shape(1, 5, 4000);
  const auto rank = static_cast<int64_t>(data.size());
  const int64_t given = rng.Axis(static_cast<int>(rank));
  const int64_t axis = given < 0 ? given + rank : given;
  Ints indices = data;
  indices[axis] = rng.Extent(17);
  if (rng.OneIn(3)) {
    const auto other = static_cast<size_t>(rng.Int(0, rank - 1));
    indices[other] = rng.Int(1, indices[other]);
  }
  NodeCase node = {.op = "tim.GatherElements",
                   .attributes = {{"axis", given}},
                   .inputs = {rng.Desc(types.inputs[0], data),
                              rng.Desc(types.inputs[1], indices)},
                   .outputs = {rng.Desc(types.outputs[0], indices)}};
  SetIndices(1, {data[axis]}, &node, rng);
  return node;
}

std::vector<IllegalCase> Illegal() {
  const auto node = [](Ints indices, int64_t axis) {
    return NodeCase{
        .op = "tim.GatherElements",
        .attributes = {{"axis", axis}},
        .inputs = {Desc(ir::DataType::kFloat32, {4, 3, 2}),
                   Desc(ir::DataType::kInt32, indices)},
        .outputs = {Desc(ir::DataType::kFloat32, std::move(indices))}};
  };
  std::vector<IllegalCase> out = IllegalOperands(node({4, 3, 2}, 0));
  out.push_back({node({4, 3, 2}, 0), "input 1 is bool8, expected a float"});
  out.back().node.inputs[1]->type = ir::DataType::kBool8;
  out.push_back({node({4, 3, 2}, 3), "axis 3 is outside"});
  out.push_back({node({4, 3}, 0), "have another rank than the data"});
  out.push_back({node({5, 7, 2}, 1), "more elements than the data"});
  out.push_back({node({4, 7, 3}, 1), "along dimensions [2, 3)"});
  return out;
}

}  // namespace

TIM_CASES(gather_elements) {
  cases.Add(
      {.op = "tim.GatherElements",
       .legal = Legal,
       .illegal = Illegal,
       .flops = FlopsPerElement(1),
       .shells = {ShellOf<vx::ops::GatherElements>({{"axis", int64_t{2}}}, 2)},
       .permute_rule = PermuteRule::kPartial});
}

}  // namespace tim::testing
