#include "bench/networks/describe.h"

#include <gtest/gtest.h>

#include "bench/networks/network_writer.h"
#include "bench/networks/quantize.h"
#include "tests/support/status_macros.h"

namespace tim::bench {
namespace {

using nlohmann::json;

TEST(Describe, GivesWhatOnnxNeeds) {
  NetworkWriter net("tiny");
  const int x = net.Input({8, 6, 3, 1});
  net.DepthwiseConv2d(
      net.Conv2d(x, 4, {.size = 3, .stride = 2, .pad = 1}, Gain::kLinear),
      {.size = 1}, Gain::kLinear);
  const json found = json::parse(Describe(net.Finish()).dump());

  EXPECT_EQ(found["name"], "tiny");
  ASSERT_EQ(found["layers"].size(), 3u);
  EXPECT_EQ(found["layers"][0]["kind"], "Input");
  EXPECT_EQ(found["layers"][0]["shape"], json({1, 3, 6, 8}));
  const json& conv = found["layers"][1];
  EXPECT_EQ(conv["kind"], "Conv2d");
  EXPECT_EQ(conv["inputs"], json::array({0}));
  EXPECT_EQ(conv["shape"], json({1, 4, 3, 4}));
  EXPECT_EQ(conv["window"],
            json({{"size", 3}, {"stride", 2}, {"pad", 1}, {"ceil", false}}));
  EXPECT_EQ(conv["parameters"][0]["shape"], json({4, 3, 3, 3}));
  EXPECT_EQ(conv["parameters"][1]["shape"], json::array({4}));
  const json& depthwise = found["layers"][2];
  EXPECT_EQ(depthwise["kind"], "DepthwiseConv2d");
  EXPECT_EQ(depthwise["parameters"][0]["shape"], json({1, 4, 1, 1}));
}

TEST(Describe, AxesAreCountedFromTheSlowest) {
  NetworkWriter net("axes");
  const int x = net.Input({8, 6, 4, 1});
  const int sliced =
      net.StridedSlice(x, {.begin = {1, 0, 0, 0}, .stride = {2, 1, 1, 1}});
  net.Transpose(net.ShuffleChannel(sliced, 2), {1, 2, 0, 3});
  const json found = json::parse(Describe(net.Finish()).dump());

  const json& slice = found["layers"][1];
  EXPECT_EQ(slice["begin"], json({0, 0, 0, 1}));
  EXPECT_EQ(slice["stride"], json({1, 1, 1, 2}));
  EXPECT_EQ(slice["shape"], json({1, 4, 6, 4}));
  const json& shuffle = found["layers"][2];
  EXPECT_EQ(shuffle["axis"], 1);
  EXPECT_EQ(shuffle["groups"], 2);
  const json& transpose = found["layers"][3];
  EXPECT_EQ(transpose["permutation"], json({0, 3, 1, 2}));
  EXPECT_EQ(transpose["shape"], json({1, 4, 4, 6}));
}

TEST(Describe, PartsFollowTheirSplit) {
  NetworkWriter net("parts");
  net.Split(net.Input({5, 4, 3, 1}), {1, 2}, 2);
  const json found = json::parse(Describe(net.Finish()).dump());

  const json& split = found["layers"][1];
  EXPECT_EQ(split["kind"], "Split");
  EXPECT_EQ(split["axis"], 1);
  EXPECT_EQ(split["extents"], json({1, 2}));
  EXPECT_EQ(split["shape"], json({1, 1, 4, 5}));
  const json& part = found["layers"][2];
  EXPECT_EQ(part["kind"], "Part");
  EXPECT_EQ(part["inputs"], json::array({1}));
  EXPECT_EQ(part["shape"], json({1, 2, 4, 5}));
}

TEST(Describe, CoefficientsAndCentersAreThoseOfTheFormula) {
  NetworkWriter net("numbers");
  const int x = net.BatchNorm(net.Input({5, 4, 3, 1}));
  net.MaxPool(net.LocalResponseNormalization(x, 5, 0.25f, 0.75f),
              {.size = 3, .stride = 2, .rounding = Rounding::kCeil});
  const json found = json::parse(Describe(net.Finish()).dump());

  const json& normalization = found["layers"][1];
  EXPECT_EQ(normalization["coefficients"][0].get<float>(), 1e-5f);
  ASSERT_EQ(normalization["parameters"].size(), 4u);
  for (const size_t i : {0, 1, 2, 3}) {
    const json& parameter = normalization["parameters"][i];
    EXPECT_EQ(parameter["shape"], json::array({3}));
    EXPECT_EQ(parameter["center"], i == 1 || i == 2 ? 1 : 0);
    EXPECT_LT(parameter["bound"], 1);
  }
  const json& local = found["layers"][2];
  EXPECT_EQ(local["window"]["size"], 5);
  EXPECT_EQ(local["coefficients"], json({0.25, 0.75, 1.0}));
  EXPECT_EQ(found["layers"][3]["window"]["ceil"], true);
  EXPECT_EQ(found["layers"][3]["shape"], json({1, 3, 2, 2}));
}

TEST(Describe, LeavesOutOperandsThatAreLeftOut) {
  NetworkWriter net("recurrent");
  net.Gru(net.Lstm(net.Input({5, 2, 3}), 4), 6);
  const json found = json::parse(Describe(net.Finish()).dump());

  const json& lstm = found["layers"][1];
  EXPECT_EQ(lstm["shape"], json({3, 2, 4}));
  ASSERT_EQ(lstm["parameters"].size(), 12u);
  EXPECT_EQ(lstm["parameters"][0]["shape"], json({4, 5}));
  EXPECT_EQ(lstm["parameters"][4]["shape"], json({4, 4}));
  EXPECT_EQ(lstm["parameters"][8]["shape"], json::array({4}));
  const json& gru = found["layers"][2];
  EXPECT_EQ(gru["shape"], json({3, 2, 6}));
  ASSERT_EQ(gru["parameters"].size(), 12u);
  EXPECT_EQ(gru["parameters"][11]["shape"], json::array({6}));
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(lstm["parameters"][i]["stream"], i);
    EXPECT_EQ(gru["parameters"][i]["stream"], 12 + i);
  }
}

TEST(Describe, ResultsOfDeConv2dAreLarger) {
  NetworkWriter net("larger");
  net.DeConv2d(net.Input({8, 6, 3, 1}), 5, {.size = 4, .stride = 2, .pad = 1},
               Gain::kLinear);
  const json found = json::parse(Describe(net.Finish()).dump());
  EXPECT_EQ(found["layers"][1]["shape"], json({1, 5, 12, 16}));
  EXPECT_EQ(found["layers"][1]["parameters"][0]["shape"], json({5, 3, 4, 4}));
}

TEST(Describe, CodesHaveTheirScalesAndTheAxisOfTheirChannels) {
  NetworkWriter net("coded");
  net.DepthwiseConv2d(net.Input({8, 6, 3, 1}), {}, Gain::kLinear);
  const Range ranges[] = {{-1, 1}, {0, 2.55f}};
  const auto made = Quantize(net.Finish(), ranges, ElementType::kInt8);
  ASSERT_OK(made);
  const json found = json::parse(Describe(*made).dump());

  EXPECT_EQ(found["type"], "int8");
  EXPECT_EQ(found["layers"][0]["codes"]["type"], "float32");
  EXPECT_EQ(found["layers"][1]["kind"], "DataConvert");
  const json& result = found["layers"][2]["codes"];
  EXPECT_EQ(result["type"], "int8");
  EXPECT_FLOAT_EQ(result["scales"][0].get<float>(), 0.01f);
  EXPECT_EQ(result["zero_point"], -128);
  const json& parameters = found["layers"][2]["parameters"];
  EXPECT_EQ(parameters[0]["codes"]["type"], "int8");
  EXPECT_EQ(parameters[0]["codes"]["scales"].size(), 3u);
  EXPECT_EQ(parameters[0]["codes"]["axis"], 1);
  EXPECT_EQ(parameters[1]["codes"]["type"], "int32");
  EXPECT_EQ(parameters[1]["codes"]["axis"], 0);
}

TEST(Describe, EveryParameterHasItsStreamAndItsBoundAsItIs) {
  NetworkWriter net("two");
  net.FullyConnected(net.FullyConnected(net.Input({27, 1}), 5, Gain::kRelu), 2,
                     Gain::kLinear);
  const Network network = net.Finish();
  const json found = json::parse(Describe(network).dump());
  uint64_t stream = 0;
  for (size_t layer = 1; layer < 3; ++layer) {
    for (size_t i = 0; i < 2; ++i) {
      const json& parameter = found["layers"][layer]["parameters"][i];
      EXPECT_EQ(parameter["stream"], stream++);
      EXPECT_EQ(parameter["bound"].get<float>(),
                network.layers[layer].parameters[i].bound);
    }
  }
}

}  // namespace
}  // namespace tim::bench
