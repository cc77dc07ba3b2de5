// BatchNorm, Multiply, Add and Sub of constants that become weights and bias.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <random>

#include "compiler/passes/passes.h"
#include "ir/evaluate.h"
#include "ops/builtin.h"
#include "tests/support/data/network.h"
#include "tests/support/data/test_tensor.h"
#include "tests/support/pinned_nodes.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;
using ir::ValueId;
using Ints = std::vector<int64_t>;

// The network computes the same after the pass, with so many nodes.
void ExpectNodes(Network network, size_t nodes) {
  const compiler::CompileOptions options;
  compiler::Module module(network.graph(), ops::BuiltinOperators(), options);
  ASSERT_OK(compiler::Verify(module));
  ASSERT_OK(compiler::InferShapes(module));
  ASSERT_OK(compiler::Simplify(module));
  const std::vector<TensorData> inputs =
      RandomInputs(module.graph, network.rng());
  const auto expected = Evaluated(module.graph, inputs);
  ASSERT_OK(expected);
  ASSERT_OK(compiler::FoldAffine(module));
  ASSERT_OK(module.graph.CheckChains());
  EXPECT_EQ(module.graph.NodeIds().size(), nodes) << module.graph.Dump();
  const auto found = Evaluated(module.graph, inputs);
  ASSERT_OK(found);
  for (size_t i = 0; i < expected->size(); ++i) {
    EXPECT_OK(CompareTensors((*expected)[i], (*found)[i],
                             {.absolute = 1e-3, .relative = 1e-5}));
  }
}

enum class Bias { kNone, kConstant, kVariable };

// [9, 7, 3, 2] to [7, 5, 6, 2].
ValueId Conv2d(Network& net, Bias bias = Bias::kNone) {
  std::vector<ValueId> inputs = {net.Input(F32({9, 7, 3, 2})),
                                 net.Constant(F32({3, 3, 3, 6}))};
  if (bias == Bias::kConstant) inputs.push_back(net.Constant(F32({6})));
  if (bias == Bias::kVariable) inputs.push_back(net.Input(F32({6})));
  return net.Op("Conv2d", {}, inputs);
}

// [5, 4] to [6, 4].
ValueId FullyConnected(Network& net) {
  return net.Op("FullyConnected", {{"axis", int64_t{0}}},
                {net.Input(F32({5, 4})), net.Constant(F32({5, 6})),
                 net.Constant(F32({6}))});
}

TEST(FoldAffine, BatchNormBehindConv2d) {
  for (const Bias bias : {Bias::kNone, Bias::kConstant}) {
    Network net;
    net.Output(net.BatchNorm(Conv2d(net, bias), {6}));
    ExpectNodes(std::move(net), 1);
  }
}

TEST(FoldAffine, BatchNormBehindDepthwiseConv2d) {
  for (const Ints& weights : {Ints{3, 3, 1, 6}, Ints{3, 3, 6, 1}}) {
    Network net;
    const ValueId y =
        net.Op("Conv2d", {{"multiplier", int64_t{2}}},
               {net.Input(F32({9, 7, 3, 2})), net.Constant(F32(weights))});
    net.Output(net.BatchNorm(y, {6}));
    ExpectNodes(std::move(net), 1);
  }
}

TEST(FoldAffine, ChainsOfElementwiseOperators) {
  Network net;
  const ValueId a =
      net.Op("Multiply", {{"scale", 0.5}},
             {Conv2d(net, Bias::kConstant), net.Constant(F32({1, 1, 6}))});
  const ValueId b = net.Op("Add", {}, {net.Constant(F32({1, 1, 6, 1})), a});
  const ValueId c = net.Op("Sub", {}, {b, net.Constant(F32({1}))});
  const ValueId d = net.Op("Sub", {}, {net.Constant(F32({1, 1, 6})), c});
  net.Output(net.Op("Relu", {}, {d}));
  ExpectNodes(std::move(net), 2);
}

TEST(FoldAffine, BehindFullyConnected) {
  Network net;
  const ValueId a =
      net.Op("Multiply", {}, {FullyConnected(net), net.Constant(F32({6}))});
  net.Output(
      net.BatchNorm(net.Op("Add", {}, {a, net.Constant(F32({6}))}), {6}));
  ExpectNodes(std::move(net), 1);
}

// Its weights are the columns of B; it has no bias.
TEST(FoldAffine, FactorsBehindMatmul) {
  for (const bool transposed : {false, true}) {
    const auto product = [&](Network& net) {
      return net.Op("Matmul", {{"transpose_b", transposed}},
                    {net.Input(F32({5, 4})),
                     net.Constant(F32(transposed ? Ints{5, 6} : Ints{6, 5}))});
    };
    Network scaled;
    scaled.Output(scaled.Op("Multiply", {},
                            {product(scaled), scaled.Constant(F32({6}))}));
    ExpectNodes(std::move(scaled), 1);
    Network added;
    added.Output(
        added.Op("Add", {}, {product(added), added.Constant(F32({6}))}));
    ExpectNodes(std::move(added), 2);
    Network rows;
    rows.Output(
        rows.Op("Multiply", {}, {product(rows), rows.Constant(F32({1, 4}))}));
    ExpectNodes(std::move(rows), 2);
  }
}

TEST(FoldAffine, SharedWeightsStayForTheOther) {
  Network net;
  const ValueId x = net.Input(F32({9, 7, 3, 2}));
  const ValueId weights = net.Constant(F32({3, 3, 3, 6}));
  const ValueId a = net.Op("Conv2d", {}, {x, weights});
  net.Output(net.Op("Conv2d", {}, {x, weights}));
  net.Output(net.BatchNorm(a, {6}));
  ExpectNodes(std::move(net), 2);
}

TEST(FoldAffine, OtherReadersKeepTheSum) {
  Network net;
  const ValueId sum = Conv2d(net);
  net.Output(net.BatchNorm(sum, {6}));
  net.Output(net.Op("Relu", {}, {sum}));
  ExpectNodes(std::move(net), 3);

  Network shown;
  const ValueId output = Conv2d(shown);
  shown.Output(shown.BatchNorm(output, {6}));
  shown.Output(output);
  ExpectNodes(std::move(shown), 2);

  Network twice;
  const ValueId both = Conv2d(twice);
  twice.Output(twice.Op("Add", {}, {both, both}));
  ExpectNodes(std::move(twice), 2);
}

TEST(FoldAffine, WhatIsNoConstantStays) {
  Network parameter;
  parameter.Output(parameter.Op(
      "Multiply", {}, {Conv2d(parameter), parameter.Input(F32({1, 1, 6}))}));
  ExpectNodes(std::move(parameter), 2);

  Network mean;
  mean.Output(mean.Op("BatchNorm", {{"eps", 1e-3}},
                      {Conv2d(mean), mean.Input(F32({6})), mean.Positive({6}),
                       mean.Constant(F32({6})), mean.Constant(F32({6}))}));
  ExpectNodes(std::move(mean), 2);

  Network bias;
  bias.Output(bias.BatchNorm(Conv2d(bias, Bias::kVariable), {6}));
  ExpectNodes(std::move(bias), 2);

  Network weights;
  const ValueId y = weights.Op(
      "Conv2d", {},
      {weights.Input(F32({9, 7, 3, 2})), weights.Input(F32({3, 3, 3, 6}))});
  weights.Output(weights.BatchNorm(y, {6}));
  ExpectNodes(std::move(weights), 2);
}

TEST(FoldAffine, ConstantsOfOtherAxesStay) {
  for (const Ints& shape :
       {Ints{7}, Ints{1, 5}, Ints{7, 1, 6}, Ints{1, 1, 1, 2}}) {
    Network net;
    net.Output(net.Op("Add", {}, {Conv2d(net), net.Constant(F32(shape))}));
    ExpectNodes(std::move(net), 2);
  }
}

TEST(FoldAffine, BroadcastSumsStay) {
  Network net;
  const ValueId y =
      net.Op("Conv2d", {},
             {net.Input(F32({9, 7, 3, 1})), net.Constant(F32({3, 3, 3, 6}))});
  net.Output(net.Op("Add", {}, {y, net.Constant(F32({1, 1, 1, 3}))}));
  ExpectNodes(std::move(net), 2);
}

TEST(FoldAffine, OtherTypesStay) {
  Network half;
  const TensorDesc f16 = Desc(DataType::kFloat16, {3, 3, 3, 6});
  const ValueId y = half.Op(
      "Conv2d", {},
      {half.Input(Desc(DataType::kFloat16, {9, 7, 3, 2})), half.Constant(f16)},
      DataType::kFloat16);
  half.Output(half.Op("Multiply", {}, {y, half.Constant(F32({1, 1, 6}))},
                      DataType::kFloat16));
  ExpectNodes(std::move(half), 2);

  Network codes;
  const auto u8 = [](Ints shape) {
    return Desc(DataType::kUint8, shape, 0.5f, 100);
  };
  const ValueId sum = codes.Op(
      "Conv2d", {},
      {codes.Input(u8({9, 7, 3, 2})), codes.Constant(u8({3, 3, 3, 6}))},
      DataType::kUint8, ir::Quantization::PerTensor(20.0f, 128));
  codes.Output(codes.Op("Add", {}, {sum, codes.Constant(u8({1, 1, 6}))},
                        DataType::kUint8,
                        ir::Quantization::PerTensor(20.0f, 128)));
  ExpectNodes(std::move(codes), 2);
}

TEST(FoldAffine, WhoseDeviceIsChosenStays) {
  for (const char* const name : {"Conv2d", "BatchNorm"}) {
    Network net;
    net.Output(net.BatchNorm(Conv2d(net), {6}));
    PinNodes(net.graph(), [name](const ir::Node& node) {
      return node.name == name ? 0 : -1;
    });
    ExpectNodes(std::move(net), 2);
  }
}

}  // namespace
}  // namespace tim::testing
