#include "tests/ops/normalization/norm_cases.h"
#include "tim/vx/ops/batchnorm.h"

namespace tim::testing {
namespace {

constexpr char kOp[] = "tim.BatchNorm";

const std::vector<std::string> kTypes = {
    "f32,f32,f32,f32,f32>f32",   "f16,f16,f16,f16,f32>f16",
    "u8a,f32,f32,f32,f32>u8a",   "i8a,f32,f32,f16,f32>i8a",
    "i16d,f32,f32,f32,f32>i16d", "i8d,f32,f32,f32,f32>i8d",
    "f16,f32,f32,f32,f32>f32",   "f32,f32,f32,f32,f32>u8a",
    "i16a,f32,f32,f32,f32>i16a", "u8a,f32,f32,f32,f32>f32",
    "f64,f64,f32,f32,f32>f32",   "bf16,bf16,f32,f32,f32>bf16",
    "i8c,f32,f32,f32,f32>f32",   "u4a,f32,f32,f32,f32>u8a",
};

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const auto shape = rng.Shape(1, 5);
  const int64_t channels =
      shape.size() < 3 ? shape[0] : shape[shape.size() - 2];
  const bool constant = rng.OneIn(2);
  const bool broadcast = rng.OneIn(3);
  NodeCase node = {.op = kOp,
                   .attributes = {{"eps", rng.Pick<double>({1e-3, 1e-5, 1.0})},
                                  {"input_layout", int64_t{1}}},
                   .inputs = {rng.Desc(types.inputs[0], shape)},
                   .outputs = {rng.Desc(types.outputs[0], shape)}};
  for (int input = 1; input < 5; ++input) {
    node.inputs.push_back(
        rng.Desc(types.inputs[input], broadcast && rng.OneIn(2)
                                          ? rng.BroadcastFrom(shape)
                                          : std::vector<int64_t>{channels}));
    SetParameter(&node, input, input == 2, constant || rng.OneIn(4), rng);
  }
  return node;
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = [](std::vector<int64_t> shape) {
    return Desc(ir::DataType::kFloat32, std::move(shape));
  };
  const NodeCase legal = {
      .op = kOp,
      .attributes = {{"eps", 1e-3}},
      .inputs = {f32({4, 3, 2}), f32({3}), f32({3}), f32({3}), f32({3})},
      .outputs = {f32({4, 3, 2})}};
  std::vector<IllegalCase> out = IllegalNorms(legal, false);
  out.push_back({legal, "input 4 is not bound"});
  out.back().node.inputs.pop_back();
  out.push_back({legal, "'eps' (float) is missing"});
  out.back().node.attributes = {};
  const char* const names[] = {"mean", "variance", "gamma", "beta"};
  for (int input = 1; input < 5; ++input) {
    const std::string name = StrCat(names[input - 1], " (input ", input, ")");
    out.push_back({legal, name + ": its shape [2] is neither [3]"});
    out.back().node.inputs[input] = f32({2});
    out.push_back({legal, name + " is uint8, expected a float type"});
    out.back().node.inputs[input]->type = ir::DataType::kUint8;
  }
  return out;
}

}  // namespace

TIM_CASES(batchnorm) {
  using vx::ops::BatchNorm;
  cases.Add(
      {.op = kOp,
       .legal = Legal,
       .illegal = Illegal,
       .flops = FlopsPerElement(3),
       .shells = {ShellOf<BatchNorm>(
                      {{"eps", 0.25}, {"input_layout", int64_t{1}}}, 0.25f),
                  ShellOf<BatchNorm>(
                      {{"eps", 0.25}, {"input_layout", int64_t{2}}}, 0.25f,
                      vx::DataLayout::CWHN)},
       .permute_rule = PermuteRule::kPartial});
}

}  // namespace tim::testing
