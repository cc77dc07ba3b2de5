#include "tests/ops/normalization/norm_cases.h"
#include "tim/vx/ops/instancenormalization.h"

namespace tim::testing {
namespace {

constexpr char kOp[] = "tim.InstanceNormalization";

const std::vector<std::string> kTypes = {
    "f32,f32,f32>f32", "f16,f32,f16>f16",   "u8a,f32,f32>u8a",
    "i8a,f16,f32>i8a", "i16d,f32,f32>i16d", "i8d,f32,f16>i8d",
    "f16,f16,f16>f32", "f32,f32,f32>u8a",   "i16a,f32,f32>i16a",
    "i32,f32,f32>i32", "u8a,f32,f32>f32",   "bf16,f32,bf16>bf16",
    "f64,f64,f32>f32", "i8c,f32,f32>f32",   "u4a,f32,f32>u8a",
};

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const auto shape = rng.Shape(3, 5);
  const int64_t channels = shape[shape.size() - 2];
  NodeCase node = {
      .op = kOp,
      .attributes = {{"eps", rng.Pick<double>({1e-5, 1e-4, 2e-5, 1.0})},
                     {"input_layout", int64_t{1}}},
      .inputs = {rng.Desc(types.inputs[0], shape)},
      .outputs = {rng.Desc(types.outputs[0], shape)}};
  for (const int input : {1, 2}) {
    std::vector<int64_t> of_channels = {channels};
    if (rng.OneIn(4)) of_channels.insert(of_channels.begin(), 2, 1);
    node.inputs.push_back(rng.Desc(types.inputs[input], of_channels));
    SetParameter(&node, input, false, rng.OneIn(2), rng);
  }
  return node;
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = [](std::vector<int64_t> shape) {
    return Desc(ir::DataType::kFloat32, std::move(shape));
  };
  const NodeCase legal = {.op = kOp,
                          .attributes = {{"eps", 1e-5}},
                          .inputs = {f32({4, 3, 2}), f32({3}), f32({3})},
                          .outputs = {f32({4, 3, 2})}};
  std::vector<IllegalCase> out = IllegalNorms(legal, false);
  out.push_back({legal, "has rank 2, expected [W, C, N]"});
  out.back().node.inputs[0] = out.back().node.outputs[0] = f32({4, 3});
  out.push_back({legal, "input 2 is not bound"});
  out.back().node.inputs.pop_back();
  out.push_back({legal, "beta (input 1) is [4], expected [3]"});
  out.back().node.inputs[1] = f32({4});
  out.push_back({legal, "gamma (input 2) is [3, 3], expected [3]"});
  out.back().node.inputs[2] = f32({3, 3});
  out.push_back({legal, "beta (input 1) is int8, expected a float type"});
  out.back().node.inputs[1]->type = ir::DataType::kInt8;
  return out;
}

}  // namespace

TIM_CASES(instancenormalization) {
  using vx::ops::InstanceNormalization;
  const double eps = 1e-5f;
  cases.Add(
      {.op = kOp,
       .legal = Legal,
       .illegal = Illegal,
       .flops = FlopsPerElement(7),
       .shells = {ShellOf<InstanceNormalization>(
                      {{"eps", eps}, {"input_layout", int64_t{1}}}),
                  ShellOf<InstanceNormalization>(
                      {{"eps", 0.25}, {"input_layout", int64_t{1}}}, 0.25f),
                  ShellOf<InstanceNormalization>(
                      {{"eps", 0.25}, {"input_layout", int64_t{2}}}, 0.25f,
                      vx::DataLayout::CWHN)}});
}

}  // namespace tim::testing
