#include "bench/networks/quantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/models/catalog.h"
#include "bench/networks/graph_of_network.h"
#include "bench/networks/network_writer.h"
#include "bench/networks/values.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::bench {
namespace {

using testing::ContextOn;
using ::testing::ElementsAre;
using testing::HostContext;

// Convolution and Relu, pool, depthwise convolution, sum, fully connected.
Network Small() {
  NetworkWriter net("small");
  const int x = net.Input({6, 6, 3, 1});
  const int pooled =
      net.MaxPool(net.Conv2dRelu(x, 4, {.size = 3, .pad = 1}), {.size = 2});
  const int sum =
      net.Add(pooled, net.DepthwiseConv2d(pooled, {.size = 1}, Gain::kLinear));
  net.FullyConnected(sum, 5, Gain::kLinear);
  return net.Finish();
}

const Range kSmallRanges[] = {{-1, 1}, {-3, 4}, {0, 4}, {0, 3},
                              {-2, 2}, {-1, 5}, {-6, 6}};

TEST(Quantize, ConvertsAtTheEnds) {
  const auto made = Quantize(Small(), kSmallRanges, ElementType::kInt8);
  ASSERT_OK(made);
  EXPECT_EQ(made->type, ElementType::kInt8);
  const std::vector<Layer>& layers = made->layers;
  ASSERT_EQ(layers.size(), 9u);
  EXPECT_EQ(layers[0].codes.type, ElementType::kFloat32);
  EXPECT_EQ(layers[1].kind, LayerKind::kDataConvert);
  EXPECT_EQ(layers[1].codes.type, ElementType::kInt8);
  EXPECT_EQ(layers[1].shape, layers[0].shape);
  EXPECT_THAT(layers[6].inputs, ElementsAre(4, 5));
  EXPECT_EQ(layers[8].kind, LayerKind::kDataConvert);
  EXPECT_EQ(layers[8].codes.type, ElementType::kFloat32);
  EXPECT_THAT(layers[8].inputs, ElementsAre(7));
  EXPECT_EQ(layers[8].shape, (Shape{5, 1}));
}

TEST(Quantize, ReluAndMaxPoolKeepTheCodesOfTheirInputs) {
  const auto made = Quantize(Small(), kSmallRanges, ElementType::kUint8);
  ASSERT_OK(made);
  for (const int layer : {2, 3, 4}) {
    EXPECT_FLOAT_EQ(made->layers[layer].codes.scales.at(0), 4.0f / 255);
    EXPECT_EQ(made->layers[layer].codes.zero_point, 0);
  }
  EXPECT_EQ(made->layers[5].codes.zero_point, 128);
  EXPECT_FLOAT_EQ(made->layers[6].codes.scales.at(0), 6.0f / 255);
}

// The shortcut of a sum may be what a Relu reads, too.
TEST(Quantize, WhatOthersReadKeepsItsOwnRange) {
  NetworkWriter net("shared");
  const int x = net.Conv2d(net.Input({2, 2, 1, 1}), 1, {}, Gain::kLinear);
  net.Add(net.Relu(x), x);
  const Range ranges[] = {{-1, 1}, {-4, 1}, {0, 1}, {-4, 2}};
  const auto made = Quantize(net.Finish(), ranges, ElementType::kUint8);
  ASSERT_OK(made);
  EXPECT_FLOAT_EQ(made->layers[2].codes.scales.at(0), 5.0f / 255);
  EXPECT_FLOAT_EQ(made->layers[3].codes.scales.at(0), 1.0f / 255);
}

TEST(Quantize, WeightsHaveAScaleForEveryChannelInInt8) {
  const auto made = Quantize(Small(), kSmallRanges, ElementType::kInt8);
  ASSERT_OK(made);
  for (const auto& [layer, channels, axis] :
       {std::array{2, 4, 3}, std::array{5, 4, 2}, std::array{7, 5, 1}}) {
    const auto& parameters = made->layers[layer].parameters;
    const Codes& weights = parameters[0].codes;
    EXPECT_EQ(weights.type, ElementType::kInt8);
    EXPECT_EQ(std::ssize(weights.scales), channels);
    EXPECT_EQ(weights.channel_axis, axis);
    EXPECT_EQ(weights.zero_point, 0);
    EXPECT_EQ(parameters[1].codes.type, ElementType::kInt32);
    const float input = made->layers[layer - 1].codes.scales[0];
    for (int i = 0; i < channels; ++i) {
      EXPECT_LE(127 * weights.scales[i], 1.001f * parameters[0].bound);
      EXPECT_EQ(parameters[1].codes.scales[i], input * weights.scales[i]);
    }
  }
}

TEST(Quantize, WeightsHaveOneScaleAndZeroPointInUint8) {
  const auto made = Quantize(Small(), kSmallRanges, ElementType::kUint8);
  ASSERT_OK(made);
  for (const int layer : {2, 5, 7}) {
    const auto& parameters = made->layers[layer].parameters;
    EXPECT_EQ(parameters[0].codes.type, ElementType::kUint8);
    ASSERT_EQ(parameters[0].codes.scales.size(), 1u);
    EXPECT_GT(parameters[0].codes.zero_point, 0);
    EXPECT_EQ(parameters[1].codes.type, ElementType::kInt32);
    EXPECT_EQ(parameters[1].codes.scales.size(), 1u);
  }
}

TEST(Quantize, ParametersTakeTheBytesOfTheirTypes) {
  const auto made = Quantize(Small(), kSmallRanges, ElementType::kUint8);
  ASSERT_OK(made);
  constexpr int kWeights = 4 * 27 + 4 + 5 * 100;
  constexpr int kBiases = 4 + 4 + 5;
  EXPECT_EQ(ParameterBytes(*made), kWeights + 4 * kBiases);
  EXPECT_EQ(ParameterBytes(Small()), 4 * (kWeights + kBiases));
}

TEST(Quantize, RangesAreOfEveryLayer) {
  EXPECT_ERROR(
      Quantize(Small(), std::span(kSmallRanges).first(3), ElementType::kInt8),
      "small: ranges of 3 layers, expected 7");
}

TEST(Quantize, OtherKindsOfLayersAreRefused) {
  NetworkWriter net("other");
  net.Sigmoid(net.Input({3, 1}));
  const Range ranges[] = {{-1, 1}, {0, 1}};
  EXPECT_ERROR(Quantize(net.Finish(), ranges, ElementType::kInt8),
               "other: layer 1 is of a kind that has no codes here");
}

TEST(Quantize, NetworksWithoutRangesAreAnErrorThatListsOthers) {
  EXPECT_ERROR(MakeNetwork("vgg16", 224, ElementType::kUint8),
               "no network 'vgg16' in uint8; there are resnet50 mobilenet_v2 "
               "mobilenet_v3_small");
}

std::vector<float> Output(vx::Context& context, const Network& network,
                          uint64_t stream) {
  const NetworkGraph built = GraphOfNetwork(context, network);
  std::vector<float> input(Elements(network.layers[0].shape));
  FillValues(stream, 1.0f, input);
  testing::Write(built.results.front(), input);
  EXPECT_TRUE(built.graph->Run()) << vx::LastError();
  return testing::Read(built.results.back());
}

std::vector<int> EncodedBy(const Layer& layer,
                           const std::vector<float>& values) {
  std::vector<uint8_t> bytes;
  Encode(values, layer.shape, layer.codes, &bytes);
  if (layer.codes.type == ElementType::kUint8) {
    return {bytes.begin(), bytes.end()};
  }
  std::vector<int> codes;
  for (const uint8_t byte : bytes) codes.push_back(static_cast<int8_t>(byte));
  return codes;
}

class QuantizedRuns : public ::testing::TestWithParam<ElementType> {};

// A convolution by hand: exact sums of products of codes, one factor for each
// channel, one rounding to codes.
TEST_P(QuantizedRuns, ConvolutionGivesTheCodesOfItsFormula) {
  constexpr int kInputs = 7, kOutputs = 5, kPixels = 12;
  NetworkWriter net("by_hand");
  net.Relu(
      net.Conv2d(net.Input({4, 3, kInputs, 1}), kOutputs, {}, Gain::kLinear));
  const Range ranges[] = {{-1, 1}, {-2, 2}, {0, 1.5f}};
  const auto made = Quantize(net.Finish(), ranges, GetParam());
  ASSERT_OK(made);
  const Layer& input = made->layers[1];
  const Layer& conv = made->layers[2];
  std::vector<float> x(Elements(input.shape)), w(kInputs * kOutputs),
      b(kOutputs);
  FillValues(1000, 1.0f, x);
  FillValues(conv.parameters[0].stream, conv.parameters[0].bound, w);
  FillValues(conv.parameters[1].stream, conv.parameters[1].bound, b);
  const std::vector<int> x_codes = EncodedBy(input, x);
  const Codes& weights = conv.parameters[0].codes;
  const std::vector<int> w_codes =
      EncodedBy({.shape = {1, 1, kInputs, kOutputs}, .codes = weights}, w);
  std::vector<float> expected;
  for (int o = 0; o < kOutputs; ++o) {
    const float w_scale = weights.scales[weights.scales.size() > 1 ? o : 0];
    const float b_scale = w_scale * input.codes.scales[0];
    const float out_scale = conv.codes.scales[0];
    const auto factor = static_cast<float>(
        static_cast<double>(input.codes.scales[0]) * w_scale / out_scale);
    for (int i = 0; i < kPixels; ++i) {
      auto sum = static_cast<int>(std::nearbyint(b[o] / b_scale));
      for (int c = 0; c < kInputs; ++c) {
        sum += (x_codes[c * kPixels + i] - input.codes.zero_point) *
               (w_codes[o * kInputs + c] - weights.zero_point);
      }
      const float code = std::clamp(
          std::nearbyint(static_cast<float>(sum) * factor), 0.0f, 255.0f);
      expected.push_back(code * out_scale);
    }
  }
  EXPECT_EQ(Output(*HostContext(), *made, 1000), expected);
}

// Weights and results have 256 codes each, and a few layers of them are off by
// a few of their steps.
TEST_P(QuantizedRuns, GiveNearlyWhatFloat32Gives) {
  for (const char* name : {"mobilenet_v2", "mobilenet_v3_small"}) {
    const auto exact = MakeNetwork(name, 64);
    const auto made = MakeNetwork(name, 64, GetParam());
    ASSERT_OK(exact);
    ASSERT_OK(made);
    const auto expected = Output(*HostContext(), *exact, 1000);
    const auto found = Output(*HostContext(), *made, 1000);
    ASSERT_EQ(found.size(), expected.size());
    double product = 0, square = 0, other = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      product += double{found[i]} * expected[i];
      square += double{found[i]} * found[i];
      other += double{expected[i]} * expected[i];
    }
    EXPECT_GT(product / std::sqrt(square * other), 0.98) << name;
    EXPECT_NEAR(std::sqrt(square / other), 1, 0.1) << name;
  }
}

TEST_P(QuantizedRuns, GiveOnOpenClTheCodesOfTheHost) {
  const auto opencl = ContextOn("opencl");
  if (opencl == nullptr) GTEST_SKIP() << vx::LastError();
  // A network compiles kernels for long: one for each type but in long runs.
  const bool is_signed = GetParam() == ElementType::kInt8;
  for (const std::string name : {"mobilenet_v2", "mobilenet_v3_small"}) {
    const bool is_of_type = is_signed == (name == "mobilenet_v2");
    if (!is_of_type && !testing::RunsLongTests()) continue;
    const auto made = MakeNetwork(name, 32, GetParam());
    ASSERT_OK(made);
    EXPECT_EQ(Output(*opencl, *made, 1000), Output(*HostContext(), *made, 1000))
        << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, QuantizedRuns,
                         ::testing::Values(ElementType::kInt8,
                                           ElementType::kUint8),
                         [](const auto& info) { return NameOf(info.param); });

}  // namespace
}  // namespace tim::bench
