#include "tests/properties/families/max_window_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/maxpoolgrad.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

// What was pooled, gradient; result.
const std::vector<std::string> kTypes = {
    "f32,f32>f32",    "f16,f16>f16",   "u8a,u8a>u8a", "i8a,f32>f32",
    "f32,i8a>i8a",    "i16a,i16d>f16", "i32,f32>f32", "f16,f32>f32",
    "bf16,bf16>bf16", "u4a,f32>f32",   "f32,f32>i32", "i8c,f32>f32",
};

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const MaxWindowCase windows = RandomMaxWindows(2, rng);
  return {.op = "tim.MaxpoolGrad",
          .attributes = windows.attributes,
          .inputs = {rng.Desc(types.inputs[0], windows.input),
                     rng.Desc(types.inputs[1], windows.output)},
          .outputs = {rng.Desc(types.outputs[0], windows.input)}};
}

double Flops(const NodeCase& node) {
  return (CellsOfWindow(node) + 1) *
         static_cast<double>(*node.inputs[1]->shape.NumElements());
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = [](Ints dims) {
    return Desc(ir::DataType::kFloat32, std::move(dims));
  };
  const NodeCase legal = {
      .op = "tim.MaxpoolGrad",
      .attributes = {{"ksize", Ints{2, 2}}, {"stride", Ints{1, 1}}},
      .inputs = {f32({4, 4, 2, 1}), f32({3, 3, 2, 1})},
      .outputs = {f32({4, 4, 2, 1})}};
  std::vector<IllegalCase> out = IllegalOperands(legal);
  out.push_back({legal, "the gradient [3, 2, 2, 1] is not what is pooled"});
  out.back().node.inputs[1] = f32({3, 2, 2, 1});
  out.push_back({legal, "the gradient [3, 3, 2] is not what is pooled"});
  out.back().node.inputs[1] = f32({3, 3, 2});
  out.push_back({legal, "has rank 2"});
  out.back().node.inputs[0] = f32({4, 4});
  out.push_back({legal, "input 1 is bool8"});
  out.back().node.inputs[1]->type = ir::DataType::kBool8;
  out.push_back({legal, "stride is 0"});
  out.back().node.attributes.Set("stride", Ints{1, 0});
  return out;
}

}  // namespace

// Without a tolerance: float results have eval's bits, too.
TIM_CASES(maxpoolgrad) {
  const std::array<uint32_t, 2> ksize = {3, 2}, stride = {2, 1};
  using vx::ops::MaxpoolGrad;
  cases.Add({.op = "tim.MaxpoolGrad",
             .legal = Legal,
             .illegal = Illegal,
             .flops = Flops,
             .shells = {ShellOf<MaxpoolGrad>({{"padding", int64_t{2}},
                                              {"ksize", Ints{3, 2}},
                                              {"stride", Ints{2, 1}}},
                                             vx::PadType::SAME, ksize, stride),
                        ShellOf<MaxpoolGrad>({{"padding", int64_t{1}},
                                              {"ksize", Ints{3, 2}},
                                              {"stride", Ints{2, 1}},
                                              {"round_type", int64_t{0}},
                                              {"layout", int64_t{2}}},
                                             vx::PadType::VALID, ksize, stride,
                                             vx::RoundType::CEILING,
                                             vx::DataLayout::CWHN)},
             .permute_rule = PermuteRule::kPartial});
}

}  // namespace tim::testing
