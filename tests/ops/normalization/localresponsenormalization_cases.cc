#include "tests/ops/normalization/norm_cases.h"
#include "tim/vx/ops/localresponsenormalization.h"

namespace tim::testing {
namespace {

constexpr char kOp[] = "tim.LocalResponseNormalization";

NodeCase Legal(CaseRng& rng) {
  NodeCase node = AxisNode(kOp, rng);
  node.attributes.Set("size", rng.Pick<int64_t>({1, 3, 5, 4, 11, 99}));
  node.attributes.Set("alpha", rng.Pick<double>({1.0, 0.25, 1e-4, 4.0}));
  node.attributes.Set("beta", rng.Pick<double>({0.5, 0.75, 1.0, 0.0, 2.5}));
  node.attributes.Set("bias", rng.Pick<double>({1.0, 2.0, 0.5, 9.0}));
  return node;
}

// Two for each neighbour that the axis has room for, and a power.
double Flops(const NodeCase& node) {
  const ir::Shape& shape = node.outputs[0].shape;
  const int64_t axis = node.attributes.Int("axis");
  const int64_t extent =
      shape[static_cast<int>(axis < 0 ? axis + shape.rank() : axis)];
  const int64_t reach = std::min(node.attributes.Int("size") / 2, extent);
  return static_cast<double>(*shape.NumElements()) *
         (2.0 * (2.0 * static_cast<double>(reach) + 1) + 100);
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = Desc(ir::DataType::kFloat32, {4, 3});
  const NodeCase legal = {.op = kOp,
                          .attributes = {{"size", int64_t{5}},
                                         {"alpha", 1.0},
                                         {"beta", 0.5},
                                         {"bias", 1.0},
                                         {"axis", int64_t{0}}},
                          .inputs = {f32},
                          .outputs = {f32}};
  std::vector<IllegalCase> out = IllegalNorms(legal, true);
  out.push_back({legal, "'size' is 0, expected a window of at least 1"});
  out.back().node.attributes.Set("size", int64_t{0});
  out.push_back({legal, "'size' (int) is missing"});
  out.back().node.attributes = {};
  return out;
}

}  // namespace

TIM_CASES(localresponsenormalization) {
  const ir::AttributeMap attributes = {{"size", int64_t{5}},
                                       {"alpha", 4.0},
                                       {"beta", 0.5},
                                       {"bias", 9.0},
                                       {"axis", int64_t{1}}};
  cases.Add(
      {.op = kOp,
       .legal = Legal,
       .illegal = Illegal,
       // The power is made of many operations; roughly counted.
       .flops = Flops,
       .flops_factor = 2,
       .shells = {ShellOf<vx::ops::LocalResponseNormalization>(
                      attributes, 5, 4.0f, 0.5f, 9.0f, 1),
                  ShellOf<vx::ops::LRN>(attributes, 5u, 4.0f, 0.5f, 9.0f, 1)},
       .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
