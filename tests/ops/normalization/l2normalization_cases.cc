#include "tests/ops/normalization/norm_cases.h"
#include "tim/vx/ops/l2normalization.h"

namespace tim::testing {
namespace {

std::vector<IllegalCase> Illegal() {
  const auto f32 = Desc(ir::DataType::kFloat32, {4, 3});
  const NodeCase legal = {.op = "tim.L2Normalization",
                          .attributes = {{"axis", int64_t{0}}},
                          .inputs = {f32},
                          .outputs = {f32}};
  std::vector<IllegalCase> out = IllegalNorms(legal, true);
  out.push_back({legal, "'axis' (int) is missing"});
  out.back().node.attributes = {};
  return out;
}

}  // namespace

TIM_CASES(l2normalization) {
  cases.Add(
      {.op = "tim.L2Normalization",
       .legal =
           [](CaseRng& rng) { return AxisNode("tim.L2Normalization", rng); },
       .illegal = Illegal,
       .flops = FlopsPerElement(3),
       .shells = {ShellOf<vx::ops::L2Normalization>({{"axis", int64_t{1}}}, 1)},
       .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
