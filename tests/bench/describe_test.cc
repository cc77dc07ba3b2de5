#include "bench/networks/describe.h"

#include <gtest/gtest.h>

#include "bench/networks/network_writer.h"

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
  EXPECT_EQ(conv["window"], json({{"size", 3}, {"stride", 2}, {"pad", 1}}));
  EXPECT_EQ(conv["parameters"][0]["shape"], json({4, 3, 3, 3}));
  EXPECT_EQ(conv["parameters"][1]["shape"], json::array({4}));
  const json& depthwise = found["layers"][2];
  EXPECT_EQ(depthwise["kind"], "DepthwiseConv2d");
  EXPECT_EQ(depthwise["parameters"][0]["shape"], json({1, 4, 1, 1}));
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
