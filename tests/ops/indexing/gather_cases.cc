#include "tests/properties/families/index_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/embedding_lookup.h"
#include "tim/vx/ops/gather.h"
#include "tim/vx/ops/gathernd.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

// Data, indices and output.
const std::vector<std::string> kTypes = {
    "f32,i32>f32",   "u8a,i32>u8a", "f16,i32>f16",   "i8a,i64>i8a",
    "i32,i32>i32",   "u8a,i32>f32", "f32,u8>u8a",    "i16d,i16>i16d",
    "b8,i32>b8",     "i64,f32>i64", "u4a,i32>u4a",   "i8,i32>i8",
    "bf16,u32>bf16", "i8a,u8a>f16", "i16a,i32>i16d", "f64,f16>f64",
};

Ints Joined(std::initializer_list<Ints> parts) {
  Ints out;
  for (const Ints& part : parts) {
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

NodeCase LegalGather(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const Ints data = rng.Shape(1, 5, 3000);
  const auto rank = static_cast<int64_t>(data.size());
  const int64_t batch = rng.OneIn(2) ? rng.Int(0, rank - 1) : 0;
  const int64_t axis = rng.Int(0, rank - batch - 1);
  const int64_t given = rng.OneIn(3) ? axis - rank : axis;
  const auto at = data.begin() + axis;
  const Ints own = rng.Shape(1, 2, 20);
  const Ints shared(data.end() - batch, data.end());
  const Ints between(at + 1, data.end() - batch);
  NodeCase node = {
      .op = "tim.Gather",
      .attributes = {{"axis", given}, {"batch_dims", batch}},
      .inputs = {rng.Desc(types.inputs[0], data),
                 rng.Desc(types.inputs[1], Joined({own, shared}))},
      .outputs = {rng.Desc(types.outputs[0], Joined({Ints(data.begin(), at),
                                                     own, between, shared}))}};
  SetIndices(1, {*at}, &node, rng);
  return node;
}

NodeCase LegalGatherNd(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const Ints data = rng.Shape(1, 5, 3000);
  const auto rank = static_cast<int64_t>(data.size());
  Ints coordinates = rng.Shape(1, 2, 20);
  const bool list = coordinates.size() == 1 && rng.OneIn(2);
  const int64_t length = list ? 1 : rng.Int(1, rank);
  const Ints output =
      Joined({Ints(data.begin(), data.end() - length), coordinates});
  if (!list) coordinates.insert(coordinates.begin(), length);
  NodeCase node = {.op = "tim.GatherNd",
                   .inputs = {rng.Desc(types.inputs[0], data),
                              rng.Desc(types.inputs[1], coordinates)},
                   .outputs = {rng.Desc(types.outputs[0], output)}};
  SetIndices(1, Ints(data.end() - length, data.end()), &node, rng);
  return node;
}

NodeCase LegalEmbeddingLookup(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const Ints table = rng.Shape(1, 4, 3000);
  Ints output = table;
  output.back() = rng.Extent();
  NodeCase node = {.op = "tim.EmbeddingLookup",
                   .inputs = {rng.Desc(types.inputs[1], {output.back()}),
                              rng.Desc(types.inputs[0], table)},
                   .outputs = {rng.Desc(types.outputs[0], output)}};
  SetIndices(0, {table.back()}, &node, rng);
  return node;
}

ir::TensorDesc F32(Ints dims) {
  return Desc(ir::DataType::kFloat32, std::move(dims));
}
ir::TensorDesc I32(Ints dims) {
  return Desc(ir::DataType::kInt32, std::move(dims));
}

// Operands of types that are not taken; inputs `data` and `indices`.
void AddIllegalTypes(const NodeCase& legal, int data, int indices,
                     std::vector<IllegalCase>* out) {
  out->push_back(
      {legal, StrCat("input ", indices, " is bool8, expected a float")});
  out->back().node.inputs[indices]->type = ir::DataType::kBool8;
  out->push_back({legal, "is quantized per channel, expected one scale"});
  ir::TensorDesc& channels = *out->back().node.inputs[data];
  channels.type = ir::DataType::kInt8;
  channels.quantization = {.kind = ir::QuantizationKind::kPerChannel,
                           .axis = 0,
                           .scales = {0.5f},
                           .zero_points = {0}};
}

std::vector<IllegalCase> IllegalGather() {
  const auto node = [](Ints data, Ints indices, int64_t axis, int64_t batch) {
    return NodeCase{.op = "tim.Gather",
                    .attributes = {{"axis", axis}, {"batch_dims", batch}},
                    .inputs = {F32(std::move(data)), I32(std::move(indices))},
                    .outputs = {F32({4, 3})}};
  };
  const NodeCase legal = node({4, 3}, {3}, 1, 0);
  std::vector<IllegalCase> out = IllegalOperands(legal);
  AddIllegalTypes(legal, 0, 1, &out);
  out.push_back({node({4, 3}, {3}, 2, 0), "axis 2 is outside"});
  out.push_back({node({4, 3}, {3}, -3, 0), "axis -3 is outside"});
  out.push_back({node({4, 3}, {3}, 1, 1), "lies in the batch"});
  out.push_back({node({4, 3}, {2, 2}, 0, 1), "differ: 3 and 2"});
  out.push_back({node({4, 3}, {3}, 0, 2), "'batch_dims' is 2"});
  out.push_back({node({4, 3}, {3}, 0, -1), "'batch_dims' is -1"});
  out.push_back({node({4, 3, 2}, {2}, 0, 2), "have fewer dimensions"});
  return out;
}

std::vector<IllegalCase> IllegalGatherNd() {
  const auto node = [](Ints data, Ints indices) {
    return NodeCase{.op = "tim.GatherNd",
                    .inputs = {F32(std::move(data)), I32(std::move(indices))},
                    .outputs = {F32({5})}};
  };
  std::vector<IllegalCase> out = IllegalOperands(node({4, 3}, {2, 5}));
  AddIllegalTypes(node({4, 3}, {2, 5}), 0, 1, &out);
  out.push_back({node({4, 3}, {3, 5}), "have 3 indices each, at most 2"});
  return out;
}

std::vector<IllegalCase> IllegalEmbeddingLookup() {
  const NodeCase legal = {.op = "tim.EmbeddingLookup",
                          .inputs = {I32({5}), F32({4, 3})},
                          .outputs = {F32({4, 5})}};
  std::vector<IllegalCase> out = IllegalOperands(legal);
  AddIllegalTypes(legal, 1, 0, &out);
  out.push_back({legal, "have rank 2, expected 1"});
  out.back().node.inputs[0] = I32({5, 1});
  return out;
}

ir::AttributeMap GatherAttributes(int64_t axis, int64_t batch) {
  return {{"axis", axis}, {"batch_dims", batch}};
}

}  // namespace

TIM_CASES(gather) {
  cases.Add({.op = "tim.Gather",
             .legal = LegalGather,
             .illegal = IllegalGather,
             .flops = FlopsPerElement(1),
             .shells = {ShellOf<vx::ops::Gather>(GatherAttributes(2, 0), 2),
                        ShellOf<vx::ops::Gather>(GatherAttributes(1, 1), 1, 1)},
             .permute_rule = PermuteRule::kPartial});
  cases.Add({.op = "tim.GatherNd",
             .legal = LegalGatherNd,
             .illegal = IllegalGatherNd,
             .flops = FlopsPerElement(1),
             .shells = {ShellOf<vx::ops::GatherNd>({})},
             .permute_rule = PermuteRule::kPartial});
  cases.Add({.op = "tim.EmbeddingLookup",
             .legal = LegalEmbeddingLookup,
             .illegal = IllegalEmbeddingLookup,
             .flops = FlopsPerElement(1),
             .shells = {ShellOf<vx::ops::EmbeddingLookup>({})},
             .permute_rule = PermuteRule::kPartial});
}

}  // namespace tim::testing
