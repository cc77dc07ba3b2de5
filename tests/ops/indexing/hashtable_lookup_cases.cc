#include "kernels/elements.h"
#include "tests/properties/operator_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/hashtable_lookup.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

// Lookups, keys, values; result, hits.
const std::vector<std::string> kTypes = {
    "i32,i32,f32>f32,i32", "i32,i32,u8a>u8a,u8a", "i32,i32,i32>f16,i32",
    "i32,i32,f16>f16,f16", "u8,i8,i8a>i8a,u8",    "i32,i32,i32>i32,f32",
    "i64,i32,u8a>f32,i32", "i32,u32,f32>u8a,b8",  "i16,u16,i16d>i16d,i8a",
    "i64,i64,u4a>u4a,i32", "i32,i8,bf16>f32,i32", "i32,i32,b8>b8,b8",
};

// Small numbers, so that some are equal.
TensorData Numbers(const ir::TensorDesc& desc, int64_t range, CaseRng& rng) {
  TensorData out = rng.Data(desc);
  kernels::ElementWriter writer({&desc, out.bytes.data()});
  for (int64_t i = 0; i < desc.shape[0]; ++i) {
    const auto number = static_cast<int64_t>(rng.engine()() % (2 * range));
    writer.StoreCode(i, number - range);
  }
  return out;
}

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const Ints values = rng.Shape(1, 4, 3000);
  Ints result = values;
  const int64_t keys = values.back();
  const int64_t lookups = result.back() = rng.Extent();
  NodeCase node = {.op = "tim.HashtableLookup",
                   .inputs = {rng.Desc(types.inputs[0], {lookups}),
                              rng.Desc(types.inputs[1], {keys}),
                              rng.Desc(types.inputs[2], values)},
                   .outputs = {rng.Desc(types.outputs[0], result),
                               rng.Desc(types.outputs[1], {lookups})}};
  node.data.emplace(0, Numbers(*node.inputs[0], keys, rng));
  auto& operands = rng.OneIn(2) ? node.constants : node.data;
  operands.emplace(1, Numbers(*node.inputs[1], keys, rng));
  return node;
}

std::vector<IllegalCase> Illegal() {
  const auto i32 = [](Ints dims) {
    return Desc(ir::DataType::kInt32, std::move(dims));
  };
  const NodeCase legal = {.op = "tim.HashtableLookup",
                          .inputs = {i32({5}), i32({3}), i32({4, 3})},
                          .outputs = {i32({4, 5}), i32({5})}};
  std::vector<IllegalCase> out = IllegalOperands(legal);
  out.push_back({legal, "input 0 is float32 [5], expected plain integers"});
  out.back().node.inputs[0]->type = ir::DataType::kFloat32;
  out.push_back({legal, "expected plain integers"});
  out.back().node.inputs[1] = Desc(ir::DataType::kInt8, {3}, 0.5f, 1);
  out.push_back({legal, "the lookups [5, 1] have rank 2"});
  out.back().node.inputs[0] = i32({5, 1});
  out.push_back({legal, "the keys [3, 1] have rank 2"});
  out.back().node.inputs[1] = i32({3, 1});
  out.push_back({legal, "there are 2 keys for 3 slices"});
  out.back().node.inputs[1] = i32({2});
  out.push_back({legal, "output 1 is not bound"});
  out.back().node.outputs.pop_back();
  return out;
}

double Flops(const NodeCase& node) {
  const auto count = [](const ir::TensorDesc& desc) {
    return static_cast<double>(*desc.shape.NumElements());
  };
  return count(node.outputs[0]) +
         count(*node.inputs[0]) * count(*node.inputs[1]);
}

}  // namespace

TIM_CASES(hashtable_lookup) {
  cases.Add({.op = "tim.HashtableLookup",
             .legal = Legal,
             .illegal = Illegal,
             .flops = Flops,
             .shells = {ShellOf<vx::ops::HashtableLookup>({})},
             .permute_rule = PermuteRule::kPartial});
}

}  // namespace tim::testing
