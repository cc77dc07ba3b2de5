#include "tests/ops/normalization/norm_cases.h"
#include "tim/vx/ops/logsoftmax.h"

namespace tim::testing {
namespace {

NodeCase Legal(CaseRng& rng) {
  NodeCase node = AxisNode("tim.LogSoftmax", rng);
  node.attributes.Set("beta", rng.Pick<double>({1.0, 0.5, 2.0, 0.0, -1.0}));
  return node;
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = Desc(ir::DataType::kFloat32, {4, 3});
  const NodeCase legal = {.op = "tim.LogSoftmax",
                          .attributes = {{"axis", int64_t{0}}},
                          .inputs = {f32},
                          .outputs = {f32}};
  std::vector<IllegalCase> out = IllegalNorms(legal, true);
  out.push_back({legal, "'axis' (int) is missing"});
  out.back().node.attributes = {};
  return out;
}

}  // namespace

TIM_CASES(logsoftmax) {
  using vx::ops::LogSoftmax;
  cases.Add({.op = "tim.LogSoftmax",
             .legal = Legal,
             .illegal = Illegal,
             // A power, made of many operations; roughly counted.
             .flops = FlopsPerElement(55),
             .flops_factor = 2,
             .shells = {ShellOf<LogSoftmax>(
                            {{"axis", int64_t{-1}}, {"beta", 1.0}}, -1),
                        ShellOf<LogSoftmax>(
                            {{"axis", int64_t{1}}, {"beta", 0.5}}, 1, 0.5f)},
             .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
