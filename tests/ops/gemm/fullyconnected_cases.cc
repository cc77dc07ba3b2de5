#include "tests/properties/sum_cases.h"
#include "tim/vx/ops/fullyconnected.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

NodeCase Legal(CaseRng& rng) {
  const Ints input = rng.Shape(2, 4, 2000);
  const int64_t axis = rng.Int(0, static_cast<int64_t>(input.size()) - 2);
  const bool constant = rng.OneIn(2);
  int64_t depth = 1;
  for (int64_t i = 0; i <= axis; ++i) depth *= input[i];
  const int64_t outputs = rng.Extent();
  Ints output = {outputs};
  if (constant) {
    output.insert(output.end(), input.begin() + axis + 1, input.end());
  } else {
    int64_t rows = 1;
    for (size_t i = axis + 1; i < input.size(); ++i) rows *= input[i];
    output.push_back(rows);
  }
  return SumCase({.op = "tim.FullyConnected",
                  .attributes = {{"axis", axis}},
                  .sizes = {.input = input,
                            .weights = {depth, outputs},
                            .weights_axis = 1,
                            .channels = outputs,
                            .terms = depth},
                  .output = output},
                 constant, rng);
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = [](Ints dims) {
    return Desc(ir::DataType::kFloat32, std::move(dims));
  };
  const auto node = [&](Ints weights, int64_t axis) {
    return NodeCase{.op = "tim.FullyConnected",
                    .attributes = {{"axis", axis}},
                    .inputs = {f32({4, 3}), f32(std::move(weights))},
                    .outputs = {f32({2, 3})}};
  };
  NodeCase biased = node({4, 2}, 0);
  biased.inputs.push_back(f32({3}));
  NodeCase bool_input = node({4, 2}, 0);
  bool_input.inputs[0] = Desc(ir::DataType::kBool8, {4, 3});
  return {{node({4}, 0), "expected at least 2"},
          {node({5, 2}, 0), "take 5 values"},
          {node({4, 2}, 2), "axis 2 is outside"},
          {biased, "has 3 elements, expected 2"},
          {bool_input, "input 0 is bool8"}};
}

}  // namespace

TIM_CASES(fullyconnected) {
  using vx::ops::FullyConnected;
  cases.Add({.op = "tim.FullyConnected",
             .legal = Legal,
             .illegal = Illegal,
             .tolerance = kSumTolerance,
             .flops =
                 [](const NodeCase& node) {
                   return SumFlops(node, node.inputs[1]->shape[0]);
                 },
             .shells = {ShellOf<FullyConnected>({{"axis", int64_t{1}}}, 1u),
                        ShellOf<FullyConnected>(
                            {{"axis", int64_t{2}}, {"weights", int64_t{10}}},
                            2u, 10u)}});
}

}  // namespace tim::testing
