#include "tests/ops/normalization/norm_cases.h"
#include "tim/vx/ops/rmsnormalization.h"

namespace tim::testing {
namespace {

constexpr char kOp[] = "tim.RmsNormalization";

const std::vector<std::string> kTypes = {
    "f32,f32>f32",   "f16,f16>f16",   "f16,f32>f16",    "u8a,f32>u8a",
    "i8a,f16>i8a",   "i16d,f32>i16d", "i8d,f16>i8d",    "f32,f32>u8a",
    "u8a,f32>f32",   "i32,f32>f32",   "bf16,bf16>bf16", "f64,f32>f32",
    "i16a,f32>i16a", "u4a,f32>u8a",
};

// Without a gamma, or with one along the axis, in its place, or anywhere.
NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  auto shape = rng.Shape(1, 5);
  // Rows along axis 0 as long as rmsnormalization_f32 takes them.
  if (rng.OneIn(4)) shape[0] = rng.Int(32, 150);
  const int64_t rank = static_cast<int64_t>(shape.size());
  const int64_t axis = rng.Axis(static_cast<int>(rank));
  const auto place = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  NodeCase node = {
      .op = kOp,
      .attributes = {{"axis", axis},
                     {"eps", rng.Pick<double>({1e-5, 1e-6, 1e-3, 1.0})}},
      .inputs = {rng.Desc(types.inputs[0], shape)},
      .outputs = {rng.Desc(types.outputs[0], shape)}};
  std::vector<int64_t> gamma(shape.size(), 1);
  gamma[place] = shape[place];
  switch (rng.Int(0, 3)) {
    case 0:
      return node;
    case 1:
      gamma = {shape[place]};
      break;
    case 2:
      break;
    default:
      gamma = rng.BroadcastFrom(shape);
  }
  node.inputs.push_back(rng.Desc(types.inputs[1], gamma));
  SetParameter(&node, 1, false, rng.OneIn(2), rng);
  return node;
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = [](std::vector<int64_t> shape) {
    return Desc(ir::DataType::kFloat32, std::move(shape));
  };
  const NodeCase legal = {.op = kOp,
                          .attributes = {{"axis", int64_t{0}}, {"eps", 1e-5}},
                          .inputs = {f32({4, 3}), f32({4})},
                          .outputs = {f32({4, 3})}};
  std::vector<IllegalCase> out = IllegalNorms(legal, true);
  out.push_back({legal, "gamma (input 1): its shape [4, 3, 2] is neither [4]"});
  out.back().node.inputs[1] = f32({4, 3, 2});
  out.push_back({legal, "gamma (input 1) is int8, expected a float type"});
  out.back().node.inputs[1]->type = ir::DataType::kInt8;
  return out;
}

}  // namespace

TIM_CASES(rmsnormalization) {
  using vx::ops::RmsNormalization;
  const double eps = 1e-5f;
  cases.Add({.op = kOp,
             .legal = Legal,
             .illegal = Illegal,
             .flops = FlopsPerElement(4),
             .shells = {ShellOf<RmsNormalization>(
                            {{"axis", int64_t{2}}, {"eps", eps}}, 2),
                        ShellOf<RmsNormalization>(
                            {{"axis", int64_t{0}}, {"eps", 0.25}}, 0, 0.25f)},
             .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
