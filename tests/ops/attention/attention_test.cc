// Attention in one kernel against the operators that it stands for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "ops/builtin.h"
#include "tests/support/data/network.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr char kKernel[] = "attention";

struct Sizes {
  int64_t heads = 1;
  int64_t queries = 1;
  int64_t keys = 1;
  int64_t depth = 1;
  int64_t columns = 1;
  bool keys_by_depth = false;
  Ints mask = {};    ///< Empty: none.
  float spread = 1;  ///< Of the queries.
};

float ScaleOf(const Sizes& sizes) {
  return 1.0f / std::sqrt(static_cast<float>(sizes.depth));
}

std::vector<ir::TensorDesc> DescsOf(const Sizes& sizes) {
  const auto [heads, queries, keys, depth, columns, by_depth, mask, spread] =
      sizes;
  std::vector<ir::TensorDesc> descs = {
      F32({depth, queries, heads}),
      by_depth ? F32({keys, depth, heads}) : F32({depth, keys, heads}),
      F32({columns, keys, heads})};
  if (!mask.empty()) descs.push_back(F32(mask));
  return descs;
}

Result<TestNode> NodeOf(const Sizes& sizes) {
  const std::vector<ir::TensorDesc> descs = DescsOf(sizes);
  return MakeNode("tim.Attention",
                  {{"scale", static_cast<double>(ScaleOf(sizes))},
                   {"keys_by_depth", sizes.keys_by_depth}},
                  {descs.begin(), descs.end()}, {ir::TensorDesc()});
}

// Results of the operators apart.
Result<std::vector<TensorData>> Apart(const Sizes& sizes,
                                      const std::vector<TensorData>& inputs) {
  Network net;
  std::vector<ir::ValueId> in;
  for (const TensorData& input : inputs) in.push_back(net.Input(input.desc));
  ir::ValueId x =
      net.Op("Matmul", {{"transpose_b", !sizes.keys_by_depth}}, {in[0], in[1]});
  x = net.Op("Multiply", {}, {x, net.Scalar(ScaleOf(sizes))});
  if (in.size() > 3) x = net.Op("Add", {}, {x, in[3]});
  x = net.Op("Softmax", {{"beta", 1.0}, {"axis", int64_t{0}}}, {x});
  net.Output(net.Op("Matmul", {}, {x, in[2]}));
  TIM_RETURN_IF_ERROR(
      compiler::InferGraph(&net.graph(), ops::BuiltinOperators()));
  return Evaluated(net.graph(), inputs);
}

std::vector<TensorData> InputsOf(const Sizes& sizes, std::mt19937& rng) {
  std::vector<TensorData> inputs;
  for (const ir::TensorDesc& desc : DescsOf(sizes)) {
    inputs.push_back(RandomTensor(desc, rng));
  }
  std::vector<float> queries = Values<float>(inputs[0]);
  for (float& each : queries) each *= sizes.spread;
  inputs[0] = MakeTensor(inputs[0].desc, queries);
  return inputs;
}

// 1e-5 of the range of the values.
Tolerance ToleranceFor(const TensorData& values) {
  float greatest = 0;
  for (const float value : Values<float>(values)) {
    greatest = std::max(greatest, std::fabs(value));
  }
  return {.absolute = 1e-5 * greatest};
}

// \param lanes of the vectors that the kernel is made for.
Status Check(const Sizes& sizes, const std::vector<TensorData>& inputs,
             int lanes = 16) {
  TIM_ASSIGN_OR_RETURN(const TestNode node, NodeOf(sizes));
  TIM_ASSIGN_OR_RETURN(const auto expected, Apart(sizes, inputs));
  TIM_ASSIGN_OR_RETURN(const auto evaluated, Eval(node, inputs));
  TIM_RETURN_IF_ERROR(
      CompareTensors(expected[0], evaluated[0]).WithContext("eval"));
  TIM_ASSIGN_OR_RETURN(const auto actual, RunKernel(node, kKernel, 0, inputs,
                                                    TestDeviceOfLanes(lanes)));
  return CompareTensors(expected[0], actual[0], ToleranceFor(inputs[2]));
}

TEST(Attention, EqualsItsPieces) {
  std::mt19937 rng = SeededRng(1);
  for (const Sizes& sizes : std::vector<Sizes>{
           {.heads = 2, .queries = 31, .keys = 65, .depth = 33, .columns = 17},
           {.heads = 3,
           .queries = 50,
           .keys = 33,
           .depth = 96,
           .columns = 64,
           .keys_by_depth = true,
           .mask = {33, 50}},
           {.heads = 2,
           .queries = 13,
           .keys = 130,
           .depth = 127,
           .columns = 128,
           .mask = {130, 1, 2}},
           {.heads = 4,
           .queries = 1,
           .keys = 200,
           .depth = 64,
           .columns = 64,
           .keys_by_depth = true,
           .mask = {1, 1, 4}},
       }) {
    EXPECT_OK(Check(sizes, InputsOf(sizes, rng)))
        << sizes.queries << " queries, " << sizes.keys << " keys of "
        << sizes.depth;
  }
}

TEST(Attention, EqualsItsPiecesInShorterVectors) {
  std::mt19937 rng = SeededRng(4);
  const Sizes sizes = {.heads = 2,
                       .queries = 13,
                       .keys = 75,
                       .depth = 9,
                       .columns = 17,
                       .mask = {75, 13, 2}};
  EXPECT_OK(Check(sizes, InputsOf(sizes, rng), 8));
}

// One key has nearly all of the weight, and e^x alone would be infinite.
TEST(Attention, GreatScoresAreNoInfiniteOnes) {
  std::mt19937 rng = SeededRng(2);
  const Sizes sizes = {.heads = 2,
                       .queries = 9,
                       .keys = 100,
                       .depth = 16,
                       .columns = 16,
                       .spread = 500};
  EXPECT_OK(Check(sizes, InputsOf(sizes, rng)));
}

// Infinite masks leave keys out, at the beginning too; a query without keys
// makes NaN, as Softmax does.
TEST(Attention, InfiniteMasksLeaveKeysOut) {
  std::mt19937 rng = SeededRng(3);
  const Sizes sizes = {.heads = 2,
                       .queries = 9,
                       .keys = 100,
                       .depth = 16,
                       .columns = 16,
                       .mask = {100, 9}};
  std::vector<TensorData> inputs = InputsOf(sizes, rng);
  std::vector<float> mask = Values<float>(inputs[3]);
  for (int64_t n = 0; n < 100; ++n) {
    if (n < 80) mask[100 + n] = -kInfinity;
    if (n % 3 != 0) mask[200 + n] = -kInfinity;
    mask[300 + n] = -kInfinity;
  }
  inputs[3] = MakeTensor(inputs[3].desc, mask);
  EXPECT_OK(Check(sizes, inputs));
  const auto node = NodeOf(sizes);
  ASSERT_OK(node);
  const auto made = RunKernel(*node, kKernel, 0, inputs);
  ASSERT_OK(made);
  EXPECT_TRUE(std::isnan(Values<float>((*made)[0])[3 * 16]));
}

TEST(Attention, RefusesWideHeads) {
  const auto node = NodeOf({.keys = 2, .depth = 129});
  ASSERT_OK(node);
  EXPECT_THAT(Supports(*node, kKernel).message(),
              ::testing::HasSubstr("heads of 129 elements, more than 128"));
}

}  // namespace
}  // namespace tim::testing
