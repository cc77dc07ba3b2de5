#include "kernels/elements.h"
#include "tests/properties/operator_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/maxunpool2d.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

// Values, indices; result.
const std::vector<std::string> kTypes = {
    "f32,u8>f32",   "u8a,u8>u8a",    "f16,u8>f16",  "i8a,u8>i8a",
    "i32,i32>i32",  "i16a,i16>i16a", "i8d,u8a>i8d", "i16d,u8>i16d",
    "u8a,u8>i8a",   "f32,i8>u8a",    "u8a,i16>f32", "f16,u8>f32",
    "bf16,u8>bf16", "u4a,u4a>u8a",   "i64,i64>i64", "f32,u32>f16",
};

// Most of them in windows of `cells`.
TensorData WindowIndices(const ir::TensorDesc& desc, int64_t cells,
                         CaseRng& rng) {
  TensorData out = rng.Data(desc);
  kernels::ElementWriter writer({&desc, out.bytes.data()});
  const int64_t count = *desc.shape.NumElements();
  const int64_t range = cells + (rng.OneIn(3) ? 4 : 0);
  for (int64_t i = 0; i < count; ++i) {
    writer.StoreCode(i, static_cast<int64_t>(rng.engine()() % range) -
                            (range > cells ? 2 : 0));
  }
  return out;
}

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const Ints ksize = {rng.Int(1, 4), rng.Int(1, 4)};
  const Ints stride = {rng.Int(1, 5), rng.Int(1, 5)};
  Ints input = {rng.Extent(17), rng.Extent(17), rng.Extent(17)};
  if (rng.OneIn(2)) input.push_back(rng.Int(1, 2));
  Ints output = input;
  const bool declared = rng.OneIn(3);
  for (int axis = 0; axis < 2; ++axis) {
    output[axis] = (input[axis] - 1) * stride[axis] + ksize[axis];
    if (declared) output[axis] = rng.Int(1, output[axis] + 2);
  }
  NodeCase node = {.op = "tim.MaxUnpool2d",
                   .attributes = {{"ksize", ksize}, {"stride", stride}},
                   .inputs = {rng.Desc(types.inputs[0], input),
                              rng.Desc(types.inputs[1], input)},
                   .outputs = {rng.Desc(types.outputs[0], output)},
                   .declared = {declared}};
  node.data.emplace(1,
                    WindowIndices(*node.inputs[1], ksize[0] * ksize[1], rng));
  return node;
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = [](Ints dims) {
    return Desc(ir::DataType::kFloat32, std::move(dims));
  };
  const NodeCase legal = {
      .op = "tim.MaxUnpool2d",
      .attributes = {{"ksize", Ints{2, 2}}, {"stride", Ints{2, 2}}},
      .inputs = {f32({2, 2, 3}), Desc(ir::DataType::kUint8, {2, 2, 3})},
      .outputs = {f32({4, 4, 3})}};
  std::vector<IllegalCase> out = IllegalOperands(legal);
  out.push_back({legal, "the indices are [2, 2, 1]"});
  out.back().node.inputs[1]->shape = ir::Shape({2, 2, 1});
  out.push_back({legal, "input 1, the indices, is float32"});
  out.back().node.inputs[1]->type = ir::DataType::kFloat32;
  out.push_back({legal, "has rank 2"});
  out.back().node.inputs[0] = f32({4, 4});
  out.push_back({legal, "attribute 'stride' has a 0"});
  out.back().node.attributes.Set("stride", Ints{2, 0});
  out.push_back({legal, "attribute 'ksize' is [0, 2]"});
  out.back().node.attributes.Set("ksize", Ints{0, 2});
  out.push_back({legal, "input 0 is bool8"});
  out.back().node.inputs[0]->type = ir::DataType::kBool8;
  return out;
}

}  // namespace

TIM_CASES(maxunpool2d) {
  const std::array<uint32_t, 2> ksize = {3, 2}, stride = {2, 1};
  using vx::ops::MaxUnpool2d;
  cases.Add(
      {.op = "tim.MaxUnpool2d",
       .legal = Legal,
       .illegal = Illegal,
       .flops = FlopsPerElement(1),
       .shells = {ShellOf<MaxUnpool2d>(
                      {{"ksize", Ints{3, 2}}, {"stride", Ints{2, 1}}}, ksize,
                      stride),
                  ShellOf<MaxUnpool2d>({{"ksize", Ints{3, 2}},
                                        {"stride", Ints{2, 1}},
                                        {"layout", int64_t{2}}},
                                       ksize, stride, vx::DataLayout::CWHN)},
       .permute_rule = PermuteRule::kPartial});
}

}  // namespace tim::testing
